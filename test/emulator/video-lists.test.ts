import { afterEach, expect, test } from 'bun:test'
import type { Emulator } from '../../src/emulator/index.ts'
import { created, MODEL, MODEL_10, remove, send, startAt } from './video-client.ts'

let emulator: Emulator
afterEach(() => emulator.stop())

const ENDPOINT = 'ep-20260101000000-video'

const list = async (query: string) => (await send(emulator, 'GET', query)).json
const idsOf = async (query = ''): Promise<string[]> => (await list(query)).items.map((item: { id: string }) => item.id)
const query = (values: readonly (readonly [string, string])[]) => {
  const search = new URLSearchParams()
  for (const [name, value] of values) search.append(name, value)
  return `?${search}`
}

test('a list has the tasks of the account in pages, in no promised order', async () => {
  emulator = await startAt()
  const ids: string[] = []
  for (let i = 0; i < 25; i++) ids.push(await created(emulator))
  const pages = [...(await idsOf()), ...(await idsOf('?page_num=2'))]
  expect((await list('')).total).toBe(25)
  expect((await idsOf()).length).toBe(20)
  expect(pages).not.toEqual(ids)
  expect([...pages].sort()).toEqual([...ids].sort())
  expect(await idsOf('?page_num=2&page_size=10')).toEqual(pages.slice(10, 20))
  expect(await idsOf('?page_num=500')).toEqual([])
  for (const wrong of [
    'page_num=0',
    'page_num=501',
    'page_size=501',
    'page_size=x',
    'filter.status=expired',
    'filter.service_tier=x',
  ])
    expect([wrong, (await send(emulator, 'GET', `?${wrong}`)).code]).toEqual([wrong, 'InvalidParameter'])
})

test('filters: ids, status, the name of the create request, and the service tier', async () => {
  emulator = await startAt({ maxRunning: { '*': 1 }, runningMs: 1000 })
  const ended = await created(emulator, 'fail with InternalServiceError')
  emulator.video.advance(1000)
  const running = await created(emulator, 'x', { model: ENDPOINT })
  const [queued, cancelled] = [await created(emulator), await created(emulator)]
  await remove(emulator, cancelled)
  const flex = await created(emulator, 'x', { model: MODEL_10, service_tier: 'flex' })
  expect((await idsOf()).sort()).toEqual([ended, running, queued, cancelled].sort())
  expect(await idsOf('?filter.service_tier=flex')).toEqual([flex])
  expect(await idsOf(query([['filter.model', ENDPOINT]]))).toEqual([running])
  expect((await idsOf(query([['filter.model', MODEL]]))).sort()).toEqual([ended, queued, cancelled].sort())
  for (const [status, id] of [
    ['failed', ended],
    ['running', running],
    ['queued', queued],
    ['cancelled', cancelled],
  ] as const)
    expect(await idsOf(`?filter.status=${status}`)).toEqual([id])
  const asked = [
    ['filter.task_ids', ended],
    ['filter.task_ids', queued],
    ['filter.task_ids', 'cgt-0'],
    ['filter.task_ids', flex],
  ] as const
  expect((await idsOf(query(asked))).sort()).toEqual([ended, queued].sort())
  // items of lists name the error differently than GET
  const [item] = (await list(query([['filter.task_ids', ended]]))).items
  expect(item).toMatchObject({ model: MODEL, failure_reason: { code: 'InternalServiceError' } })
  expect(item).not.toHaveProperty('error')
})

test('a list ends with the tasks of 7 days; expired ones may be missing, and new ones may come late', async () => {
  emulator = await startAt({ listsExpired: false, listedAfterMs: 5000, runningMs: 1000 })
  const [ended, expired] = [
    await created(emulator),
    await created(emulator, 'run forever', { execution_expires_after: 3600 }),
  ]
  emulator.video.advance(4999)
  expect(await idsOf()).toEqual([])
  emulator.video.advance(1)
  expect((await idsOf()).sort()).toEqual([ended, expired].sort())
  emulator.video.advance(3_600_000)
  expect(await idsOf()).toEqual([ended])
  emulator.video.advance(7 * 86_400_000)
  expect(await idsOf()).toEqual([])
})
