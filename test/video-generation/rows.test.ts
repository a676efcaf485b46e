import { expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { createVideoService } from '../../plugins/video-generation/service/service.ts'
import { queueOn } from '../../plugins/video-generation/store/rows/queue.ts'
import type { VideoTaskStore } from '../../plugins/video-generation/store/task-store.ts'
import type { NewVideoTask } from '../../plugins/video-generation/tasks/task.ts'
import { createMemoryRows } from '../support/memory-rows.ts'

const at = 1_700_000_000_000

const newTask = (more: Partial<NewVideoTask> = {}): NewVideoTask => ({
  ...{ id: randomUUID(), user: 'ann', model: 'model', serviceTier: 'default', fields: '{}', request: '{}' },
  ...{ createdAt: at, expiresAt: at + 172_800_000 },
  ...more,
})

/** A store in memory that tells which rows it has. */
const createKnownRows = () => {
  const store = createMemoryRows()
  const keys = new Set<string>()
  const known: VideoTaskStore = {
    ...store,
    async changeVideoRows(changes, news) {
      const isChanged = await store.changeVideoRows(changes, news)
      for (const { key, to } of isChanged ? changes : []) to ? keys.add(key) : keys.delete(key)
      return isChanged
    },
  }
  return { store: known, keys }
}

test('a task that is gone leaves no row, whatever has become of it', async () => {
  const { store, keys } = createKnownRows()
  const queue = queueOn(store)
  const limits = { running: 1 }
  const add = async (more?: Partial<NewVideoTask>) => {
    const task = newTask(more)
    const added = await queue.addVideoTask(task, limits, at + 1000)
    return { ...task, claim: added.outcome === 'claimed' ? added.task : { id: task.id, attempts: 0 } }
  }
  const next = async () => (await queue.claimVideoTask('model', limits, at, at + 1000)) ?? { id: '', attempts: 0 }
  const [first, second] = [await add(), await add({ user: 'bob', expiresAt: at + 5 })]
  const [third, fourth] = [await add({ user: 'carl' }), await add({ user: 'dora', serviceTier: 'default' })]
  expect(await queue.releaseVideoTask(first.claim, at)).toBe(true)
  expect(await queue.confirmVideoTask(await next(), 'up-1', at, at)).toBe(true)
  await queue.moveVideoTasks([{ id: first.id, status: 'running', overruns: true, task: '{}', dueAt: at }], at)
  const moved = { id: first.id, status: 'succeeded', task: '{}', dueAt: at, copy: true } as const
  expect(await queue.moveVideoTasks([moved], at)).toMatchObject([{ freed: true }])
  expect(await queue.endVideoTask(first.id, at, undefined)).toBe(true)
  expect(await queue.expireWaitingVideoTasks(at + 5, 10)).toBe(1)
  expect(await queue.cancelWaitingVideoTask('carl', third.id, at)).toBe(true)
  expect(await queue.failVideoTask(await next(), '{}', at)).toBe(true)
  const fifth = await add({ user: 'eve', id: 'fifth' })
  expect(await queue.dropVideoTask(fifth.claim)).toBe(true)
  expect(await queue.takeLease('poller', 'one', at, at + 1)).toBe(true)
  await queue.releaseLease('poller', 'one')
  expect((await queue.sweepVideoTasks(at + 6, 10)).map(({ id }) => id).sort()).toEqual(
    [first.id, second.id, third.id, fourth.id].sort(),
  )
  expect([...keys]).toEqual(['["pool","model"]'])
  expect(await queue.sweepVideoPools(at + 1, 10)).toBe(1)
  expect([...keys]).toEqual([])
})

test('a task that another process has claimed since the pool was read is not taken for an empty pool', async () => {
  const store = createMemoryRows()
  const other = queueOn(store)
  const [first, second] = [newTask(), newTask({ user: 'bob' })]
  for (const task of [first, second]) await other.addVideoTask(task, { running: 0 }, at)
  let claims = 0
  const queue = queueOn({
    ...store,
    async listVideoRows(...range) {
      if (claims++ === 0) await other.claimVideoTask('model', { running: 2 }, at, at)
      return store.listVideoRows(...range)
    },
  })
  expect(await queue.claimVideoTask('model', { running: 2 }, at, at)).toMatchObject({ id: second.id })
})

test('a lease has one holder at a time, until it ends', async () => {
  const store = createMemoryRows()
  const [one, two] = [queueOn(store), queueOn(store)]
  const take = (queue: typeof one, holder: string, now: number) => queue.takeLease('poller', holder, now, now + 10)
  expect(await Promise.all([take(one, 'one', at), take(two, 'two', at)])).toContainAllValues([true, false])
  await Promise.all([one.releaseLease('poller', 'two'), two.releaseLease('poller', 'one')])
  expect([await take(one, 'one', at), await take(two, 'two', at + 9), await take(one, 'one', at + 9)]).toEqual([
    ...[true, false, true],
  ])
  expect([await take(two, 'two', at + 18), await take(two, 'two', at + 19)]).toEqual([false, true])
  await one.releaseLease('poller', 'one')
  expect(await take(one, 'one', at + 19)).toBe(false)
})

test('limits of usage need a store that has a queue of its own', () => {
  const usageLimits = { reserve: async () => undefined } as never
  expect(() => createVideoService({ store: createMemoryRows(), usageLimits })).toThrow(
    'usageLimits needs a store that has a queue of its own',
  )
})
