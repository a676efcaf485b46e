import { describe, expect, test } from 'bun:test'
import type { Log } from '../../plugins/shared/problem.ts'
import { openStore } from '../../src/store/index.ts'
import { askRaw, startGateway } from '../support/gateway.ts'
import { openVideoFixture, until, type VideoFixture, videoUser } from './fixture.ts'

const callbacks = '/api/v3/contents/generations/callbacks'

/** Collects the lines of a log, of all levels, as JSON. */
const collecting = () => {
  const lines: string[] = []
  const add = (level: string) => (fields: object, message: string) => {
    const { err, ...more } = fields as { err?: unknown }
    const cause = err instanceof Error ? [err.name, err.message, String(err.cause)] : err
    lines.push(JSON.stringify([level, message, more, cause]))
  }
  const log: Log = { debug: add('debug'), info: add('info'), warn: add('warn'), error: add('error') }
  return { lines, log }
}

/** Callback address of the upstream's newest task, as a path. */
const callbackPathOf = ({ emulator }: VideoFixture): string =>
  new URL(String(emulator.video.tasks().at(-1)?.body.callback_url)).pathname

describe('callbacks', () => {
  // Nothing listens there: the emulator's own callbacks get lost.
  const publicUrl = () => 'http://127.0.0.1:9'

  test('with a wrong key are 404, whatever the task, and cause no call to the upstream', async () => {
    await using fixture = await openVideoFixture({ gateway: { publicUrl, pollMs: 60_000 } })
    const { ann, bob, emulator, gateway } = fixture
    const own = await ann.created()
    const path = callbackPathOf(fixture)
    await bob.created()
    const foreign = callbackPathOf(fixture)
    const key = path.split('/').at(-1) ?? ''
    expect(key.length).toBeGreaterThan(40)
    await new Promise((resolve) => setTimeout(resolve, 50))
    emulator.clearCalls()
    const wrong = [
      ...[`${callbacks}/${own}/x`, `${callbacks}/${own}/${key}x`, `${callbacks}/${own}/${key.slice(0, -1)}`],
      ...[`${callbacks}/${own}/${key.toLowerCase()}`, `${callbacks}/${own}/${foreign.split('/').at(-1)}`],
      ...[`${foreign.slice(0, foreign.lastIndexOf('/'))}/${key}`, `${callbacks}/x/${key}`, `${callbacks}/%00/${key}`],
      ...[`${callbacks}/${own.toUpperCase()}/${key}`, `${callbacks}/${own}%20/${key}`, `${callbacks}/${own}/${key}%00`],
      `${callbacks}/cgt-20260101000000-00000000000000000000/${key}`,
    ]
    const texts = new Set<string>()
    for (const target of wrong) {
      const reply = await askRaw(gateway.url, target, { method: 'POST', headers: {}, body: '{"status":"succeeded"}' })
      expect([target, reply.status]).toEqual([target, 404])
      texts.add(reply.text)
    }
    expect(texts.size).toBe(1)
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await askRaw(gateway.url, path, { method, headers: {} })).status).toBe(405)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(emulator.calls).toEqual([])
    expect(await ann.statusOf(own)).toBe('queued')
  })

  test('that lie change nothing, and a flood of them causes few calls to the upstream', async () => {
    await using fixture = await openVideoFixture({ gateway: { publicUrl, pollMs: 1_000 } })
    const { ann, emulator, gateway } = fixture
    const id = await ann.created()
    const path = callbackPathOf(fixture)
    emulator.clearCalls()
    const started = performance.now()
    const lie = JSON.stringify({ id, status: 'succeeded', content: { video_url: 'https://evil.example/x.mp4' } })
    for (let round = 0; round < 100; round++) {
      await Promise.all(
        Array.from({ length: 25 }, async () => {
          const reply = await fetch(gateway.url + path, { method: 'POST', body: lie })
          expect(reply.status).toBe(200)
        }),
      )
    }
    await until(async () => (await ann.statusOf(id)) === 'running')
    // Polls that are still to come.
    await new Promise((resolve) => setTimeout(resolve, 400))
    const seconds = (performance.now() - started) / 1000
    expect((await ann.get(id)).text).not.toContain('evil')
    // 2,500 callbacks.
    expect(emulator.calls.length).toBeLessThan(10 + 6 * seconds)
  }, 300_000)
})

describe('lists', () => {
  test('of ids show only the caller’s own, however they are asked for', async () => {
    await using fixture = await openVideoFixture()
    const { ann, bob, emulator } = fixture
    const [own, foreign] = [await ann.created(), await bob.created()]
    const upstream = emulator.video.tasks().map(({ id }) => id)
    emulator.clearCalls()
    const listed = async (query: string) => {
      const { status, json } = await ann.send('GET', `?${query}`)
      return [status, json.total, json.items?.map(({ id }: { id: string }) => id)]
    }
    const ids = (...all: string[]) => all.map((id) => `filter.task_ids=${encodeURIComponent(id)}`).join('&')
    expect(await listed(ids(own, foreign, ...upstream))).toEqual([200, 1, [own]])
    expect(await listed(ids(own, own, own))).toEqual([200, 1, [own]])
    for (const odd of [
      foreign,
      ...upstream,
      `${own}'`,
      `${own}\0`,
      '%',
      `${own},${foreign}`,
      own.toUpperCase(),
      '*',
      "' or 1=1 --",
    ])
      expect(await listed(ids(odd))).toEqual([200, 0, []])
    // Absent values are no filter.
    expect(await listed('filter.task_ids=')).toEqual([200, 1, [own]])
    const many = Array.from({ length: 499 }, (_, index) => `cgt-20260101000000-${String(index).padStart(20, '0')}`)
    const reply = await ann.send('GET', `?${ids(own, ...many)}`)
    expect([200, 414, 431]).toContain(reply.status)
    if (reply.status === 200) expect(reply.json.items).toHaveLength(1)
    const tooMany = await ann.send('GET', `?${Array.from({ length: 501 }, () => 'filter.task_ids=a').join('&')}`)
    expect(tooMany.status).toBe(400)
    expect(emulator.calls.filter(({ method }) => method === 'GET').length).toBeLessThan(200)
  })

  test('reject parameters that a database would not take, or that stand twice', async () => {
    await using fixture = await openVideoFixture()
    const { ann } = fixture
    await ann.created()
    for (const query of [
      ...['page_num=0', 'page_num=-1', 'page_num=1e3', 'page_num=99999999999', 'page_num=1.5', 'page_num=1&page_num=2'],
      ...[
        'page_size=0',
        'page_size=501',
        'page_size=NaN',
        'filter.status=a',
        'filter.status=queued&filter.status=running',
      ],
      ...['filter.service_tier=x', 'filter.model=a&filter.model=b', `filter.model=${'a'.repeat(257)}`],
    ])
      expect([query, (await ann.send('GET', `?${query}`)).status]).toEqual([query, 400])
    expect((await ann.send('GET', '?filter.model=a%00b')).status).toBe(400)
    for (const query of ['filter.model=%ed%a0%80', 'page_num=1000000&page_size=500'])
      expect([query, (await ann.send('GET', `?${query}`)).json]).toMatchObject([query, { items: [] }])
    // Unknown parameters are ignored.
    expect((await ann.send('GET', '?filter.user=bob&user_id=bob')).json.total).toBe(1)
  })
})

describe('tasks of others', () => {
  test('are the same 404 for every method and form of the id, without a call to the upstream', async () => {
    await using fixture = await openVideoFixture({ gateway: { pollMs: 60_000 } })
    const { ann, bob, emulator } = fixture
    const id = await ann.created()
    const upstream = emulator.video.tasks()[0]?.id ?? ''
    await new Promise((resolve) => setTimeout(resolve, 30))
    emulator.clearCalls()
    const replies = new Set<string>()
    for (const each of [
      id,
      upstream,
      'cgt-20260101000000-00000000000000000000',
      `${id}%00`,
      `${id}%20`,
      'a%2fb',
      `${id};x`,
    ]) {
      for (const [method, query] of [
        ['GET', ''],
        ['DELETE', ''],
        ['DELETE', '?mode=cancel'],
        ['DELETE', '?mode=delete'],
      ] as const) {
        const reply = await bob.send(method, `/${each}${query}`)
        expect([each, method, reply.status]).toEqual([each, method, 404])
        replies.add(reply.text)
      }
    }
    expect(replies.size).toBe(1)
    // The upstream's own id is nobody's.
    expect((await ann.get(upstream)).status).toBe(404)
    expect(emulator.calls).toEqual([])
  })
})

test('no secret reaches the log or a response', async () => {
  const { lines, log } = collecting()
  await using fixture = await openVideoFixture({
    gateway: { publicUrl: () => 'http://127.0.0.1:9', settleWaitMs: 50 },
    more: { log },
  })
  const { ann, emulator, gateway } = fixture
  const texts: string[] = []
  const send = async (...asked: Parameters<typeof ann.send>) => {
    const reply = await ann.send(...asked)
    texts.push(reply.text)
    return reply
  }
  const request = { model: 'doubao-seedance-2-0-260128', content: [{ type: 'text', text: 'a secret prompt' }] }
  const { json } = await send('POST', '', request, { 'idempotency-key': 'a-secret-key' })
  const callback = callbackPathOf(fixture)
  await fetch(gateway.url + callback, { method: 'POST', body: '{}' })
  await fetch(`${gateway.url}${callback}x`, { method: 'POST', body: '{}' })
  for (const fault of [
    { kind: 'status', status: 401 },
    { kind: 'status', status: 500 },
    { kind: 'reset-before' },
    { kind: 'leak' },
    { kind: 'rate-limit', limit: 'api-rpm' },
    { kind: 'not-json' },
  ]) {
    emulator.faults.add({ ...fault, api: 'video', action: 'CreateVideoTask' } as never)
    await send('POST', '', request, {
      'idempotency-key': `a-secret-key-${JSON.stringify(fault).replaceAll(/[^\w-]/g, '')}`,
    })
  }
  await send('GET', `/${json.id}`)
  await send('GET', '')
  await send('DELETE', `/${json.id}`)
  const key = callback.split('/').at(-1) ?? ''
  const all = [...lines, ...texts].join('\n')
  expect(lines.length).toBeGreaterThan(5)
  for (const secret of [emulator.video.key, key, ann.token, 'a-secret-key']) expect(all).not.toContain(secret)
  expect(lines.join('\n')).not.toContain('a secret prompt')
})

test('a task that the upstream does not show yet is queued', async () => {
  await using fixture = await openVideoFixture()
  const { ann, emulator } = fixture
  const late = { status: 200, body: '{"items":[],"total":0}', times: Number.POSITIVE_INFINITY }
  const faults = [
    emulator.faults.add({ kind: 'status', ...late, action: 'ListVideoTasks' }),
    emulator.faults.add({ kind: 'status', ...late, status: 404, action: 'GetVideoTask' }),
  ]
  const id = await ann.created()
  await until(() => (faults[1]?.hits ?? 0) > 2)
  expect((await ann.get(id)).json).toMatchObject({ id, status: 'queued' })
  expect((await ann.send('GET', '')).json).toMatchObject({ items: [{ id, status: 'queued' }], total: 1 })
  for (const fault of faults) fault.remove()
  await until(async () => (await ann.statusOf(id)) === 'running')
})

describe('two processes, when DELETE races', () => {
  const race = async (queuedMs: number, rounds: number, play: (players: Players) => Promise<void>) => {
    const store = openStore('sqlite::memory:')
    await using fixture = await openVideoFixture({ store, video: { queuedMs }, gateway: { pollMs: 5 } })
    const { ann, emulator } = fixture
    await using second = await startGateway({ emulator, store, video: { pollMs: 5, background: true } })
    const users = [ann, videoUser(second, ann)]
    for (let round = 0; round < rounds; round++) {
      const id = await ann.created()
      const upstreamId = emulator.video.tasks().at(-1)?.id ?? ''
      await play({
        id,
        upstream: () => emulator.video.tasks().find((task) => task.id === upstreamId)?.status,
        finish: () => void emulator.video.finish(upstreamId),
        removals: (mode = '') =>
          Promise.all(
            users.map(async (user) => {
              await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
              const { status } = await user.send('DELETE', `/${id}${mode}`)
              expect([200, 404, 409]).toContain(status)
              return status
            }),
          ),
        async becomes(status) {
          await until(async () => (await ann.statusOf(id)) === status)
        },
        seen: async () => (await ann.get(id)).json.status ?? 'gone',
      })
    }
    await store.close()
  }

  interface Players {
    readonly id: string
    upstream(): string | undefined
    finish(): void
    removals(mode?: string): Promise<readonly number[]>
    becomes(status: string): Promise<void>
    seen(): Promise<string>
  }

  test('with the start of a task, it is either cancelled or runs', async () => {
    await race(10, 20, async ({ upstream, removals, becomes }) => {
      const statuses = await removals()
      await until(() => upstream() !== 'queued')
      await becomes(upstream() === 'cancelled' ? 'cancelled' : 'running')
      expect([upstream(), statuses.includes(200)]).toEqual([upstream(), upstream() === 'cancelled'])
    })
  }, 300_000)

  test.each(['', '?mode=cancel'])(
    'with the end of a task (%j), its result is there, unless it is deleted after its end',
    async (mode) => {
      await race(0, 20, async ({ finish, removals, becomes, seen }) => {
        await becomes('running')
        const removing = removals(mode)
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
        finish()
        const statuses = await removing
        if (statuses.includes(200)) expect([mode, await seen()]).toEqual(['', 'gone'])
        else await becomes('succeeded')
      })
    },
    300_000,
  )
})
