import { describe, expect, test } from 'bun:test'
import { repeatedDatabases } from '../support/database.ts'
import { MODEL, MODEL_10, openVideoFixture, until, type VideoUser } from './fixture.ts'

const ids = async (user: VideoUser, query: string): Promise<string[]> =>
  (await user.send('GET', query)).json.items.map(({ id }: { id: string }) => id)

describe.each(repeatedDatabases)('lists of tasks (%s)', (kind) => {
  test('have exactly the tasks of the caller, with every filter, newest first', async () => {
    await using fixture = await openVideoFixture({ database: kind, video: { maxRunning: { '*': 2 } } })
    const { ann, bob, emulator } = fixture
    const finish = async (id: string, nth: number, status: 'succeeded' | 'failed') => {
      const upstream = emulator.video.tasks()[nth]?.id ?? ''
      emulator.video.finish(upstream, status === 'failed' ? { status, code: 'X', message: 'x' } : { status })
      await until(async () => (await ann.statusOf(id)) === status)
    }
    const succeeded = await ann.created('one')
    await finish(succeeded, 0, 'succeeded')
    const failed = await ann.created('two')
    await finish(failed, 1, 'failed')
    await bob.created('of bob')
    const running = await ann.created('three')
    const queued = await ann.created('four')
    const cancelled = await ann.created('five')
    await ann.send('DELETE', `/${cancelled}`)
    const old = await ann.created('six', { model: MODEL_10 })
    const flex = await ann.created('seven', { model: MODEL_10, service_tier: 'flex' })
    await until(async () => (await ann.statusOf(running)) === 'running')
    await until(async () => (await ann.statusOf(old)) === 'running')
    const everything = [old, cancelled, queued, running, failed, succeeded]
    expect((await ids(ann, '?page_size=500')).sort()).toEqual([...everything].sort())
    expect((await ann.send('GET', '?page_size=1')).json.total).toBe(6)
    expect((await bob.send('GET', '')).json.total).toBe(1)
    for (const [query, expected] of [
      ['?filter.status=succeeded', [succeeded]],
      ['?filter.status=failed', [failed]],
      ['?filter.status=cancelled', [cancelled]],
      ['?filter.status=queued', [queued]],
      ['?filter.status=running', [old, running]],
      ['?filter.status=expired', []],
      [`?filter.model=${MODEL_10}`, [old]],
      [`?filter.model=${MODEL_10}&filter.service_tier=flex`, [flex]],
      ['?filter.service_tier=flex', [flex]],
      [`?filter.task_ids=${queued}&filter.task_ids=${failed}&filter.task_ids=x`, [queued, failed]],
      [`?filter.task_ids=${queued}&filter.model=${MODEL}&filter.status=queued`, [queued]],
      [`?filter.task_ids=${emulator.video.tasks()[0]?.id}`, []],
      ['?filter.status=&filter.model=&page_num=&unknown=1', everything],
    ] as const) {
      const { json } = await ann.send('GET', query)
      expect([query, json.items.map(({ id }: { id: string }) => id).sort()]).toEqual([query, [...expected].sort()])
      expect(json.total).toBe(expected.length)
    }
    const pages = []
    for (const page of [1, 2, 3, 4]) pages.push(...(await ids(ann, `?page_size=2&page_num=${page}`)))
    expect(pages).toEqual(await ids(ann, '?page_size=500'))
    expect(await ids(ann, '?page_size=500&page_num=1000000')).toEqual([])
  })

  test('reject a wrong query', async () => {
    await using fixture = await openVideoFixture({ database: kind })
    for (const query of [
      ...['page_num=0', 'page_num=x', 'page_num=1.5', 'page_num=1000001', 'page_size=0', 'page_size=501'],
      ...['filter.status=done', 'filter.service_tier=fast', 'filter.status=queued&filter.status=running'],
      `filter.model=${'m'.repeat(257)}`,
      Array.from({ length: 501 }, (_, nth) => `filter.task_ids=${nth}`).join('&'),
    ]) {
      const { status, json } = await fixture.ann.send('GET', `?${query}`)
      expect([query, status, json.error.param]).toEqual([query, 400, query.split('=')[0]])
    }
  })
})
