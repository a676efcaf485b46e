import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { placeOfNext } from '../../plugins/video-generation/store/place.ts'
import type { ClaimedVideoTask } from '../../plugins/video-generation/store/queue.ts'
import type { VideoStatus } from '../../plugins/video-generation/tasks/statuses.ts'
import type { NewVideoTask } from '../../plugins/video-generation/tasks/task.ts'
import type { VideoTaskFilter } from '../../plugins/video-generation/tasks/tasks.ts'
import { eachVideoQueue, type RecordedQueue } from '../support/video-queues.ts'

const at = 1_700_000_000_000
const minute = 60_000

let made = 0
const newTask = (more: Partial<NewVideoTask> = {}): NewVideoTask => ({
  ...{ id: `cgt-${String(made++).padStart(8, '0')}`, user: randomUUID(), model: randomUUID(), serviceTier: 'default' },
  ...{ fields: '{}', request: '{}', createdAt: at, expiresAt: at + 172_800_000 },
  ...more,
})

eachVideoQueue('records of video tasks', (queue) => {
  let store: RecordedQueue
  let other: RecordedQueue
  beforeAll(async () => {
    store = await queue.open()
    other = await queue.open()
  })

  /** A task that the upstream has, with that status. */
  const submitted = async (task: NewVideoTask, status: VideoStatus = 'queued', copy = false) => {
    const added = await store.addVideoTask(task, undefined, at + minute)
    if (added.outcome !== 'claimed') throw new Error('there are no limits')
    await store.confirmVideoTask(added.task, `up-${task.id}`, at, at)
    if (status !== 'queued') {
      await store.moveVideoTasks([{ id: task.id, status, task: `{"status":"${status}"}`, copy, dueAt: at }], at)
    }
    return task.id
  }

  test('are listed exactly: by status, model, tier and ids, by page and after an id', async () => {
    const [ann, bob, model] = [randomUUID(), randomUUID(), randomUUID()]
    const ids: string[] = []
    for (const status of ['queued', 'running', 'succeeded', 'failed', 'queued'] as const) {
      ids.push(await submitted(newTask({ user: ann, ...(status === 'failed' && { model }) }), status))
      await submitted(newTask({ user: bob }), status)
    }
    ids.push(await submitted(newTask({ user: ann, serviceTier: 'flex' })))
    const [a, b, c, d, e, f] = ids as [string, string, string, string, string, string]
    const pages = async (filter: VideoTaskFilter, ...page: Parameters<RecordedQueue['videoTasks']>[2][]) => {
      const lists = await Promise.all(page.map((each) => other.videoTasks(ann, filter, each)))
      return lists.map(({ tasks, total }) => [tasks.map(({ id }) => id), total])
    }
    const all = { offset: 0, limit: 10 }
    expect(await pages({}, all, { offset: 1, limit: 2 }, { offset: 6, limit: 2 })).toEqual([
      ...[
        [[f, e, d, c, b, a], 6],
        [[e, d], 6],
        [[], 6],
      ],
    ])
    expect(await pages({ status: 'queued' }, all)).toEqual([[[f, e, a], 3]])
    expect(await pages({ status: 'queued', serviceTier: 'default' }, all)).toEqual([[[e, a], 2]])
    expect(await pages({ model }, all)).toEqual([[[d], 1]])
    expect(await pages({ ids: [d, 'unknown', a, d] }, all, { offset: 1, limit: 1 })).toEqual([
      [[d, a], 2],
      [[a], 2],
    ])
    expect(await pages({ ids: [d, a, b], status: 'queued' }, all)).toEqual([[[a], 1]])
    const bobs = (await store.videoTasks(bob, {}, all)).tasks.map(({ id }) => id)
    expect(await pages({ ids: bobs }, all)).toEqual([[[], 0]])
    expect(
      await pages(
        {},
        { limit: 2, order: 'asc' },
        { after: b, limit: 2, order: 'asc' },
        { after: c, limit: 9, order: 'desc' },
      ),
    ).toEqual([
      [[a, b], 6],
      [[c, d], 6],
      [[b, a], 6],
    ])
    expect(await store.deleteVideoTask(ann, c, at)).toBeDefined()
    expect(await pages({}, { after: c, limit: 1, order: 'asc' }, { after: c, limit: 9, order: 'desc' })).toEqual([
      ...[
        [[d], 5],
        [[b, a], 5],
      ],
    ])
    expect(await pages({ ids }, { after: d, limit: 1, order: 'desc' }, { after: a, limit: 2, order: 'asc' })).toEqual([
      ...[
        [[b], 5],
        [[b, d], 5],
      ],
    ])
  })

  test('keep the hint of a callback that arrives during a poll', async () => {
    const id = await submitted(newTask())
    const due = async (now: number) => (await other.dueVideoTasks(now, 1000)).find((task) => task.id === id)
    const read = await due(at)
    const poll = { id, status: 'running', task: '{}', dueAt: at + 9_000 } as const
    expect(await store.hintVideoTask(id, at)).toBe(true)
    await store.moveVideoTasks([{ ...poll, readDueAt: read?.dueAt }], at)
    const again = await due(at)
    expect(again).toMatchObject({ status: 'running' })
    await store.moveVideoTasks([{ ...poll, readDueAt: again?.dueAt }], at)
    expect(await due(at + 8_999)).toBeUndefined()
    expect(await due(at + 9_000)).toBeDefined()
    await store.moveVideoTasks([{ ...poll, status: 'failed' }], at)
    expect(await due(at + 9_000)).toBeUndefined()
    expect(await store.hintVideoTask(id, at)).toBe(false)
  })

  test('of a result that is copied end with it, and the copy has one holder at a time', async () => {
    const task = newTask()
    const { id, user } = task
    await submitted(task, 'succeeded', true)
    const row = () => store.videoTask(user, id)
    expect(await row()).toMatchObject({ phase: 'copying', status: 'running', finalTask: '{"status":"succeeded"}' })
    expect((await store.dueVideoCopies(at, 1000)).map((each) => each.id)).toContain(id)
    const leases = await Promise.all([store, other].map((each) => each.leaseVideoCopy(id, at, at + minute)))
    expect(leases.filter(Boolean)).toHaveLength(1)
    expect(await other.leaseVideoCopy(id, at + minute - 1, at + 2 * minute)).toBeUndefined()
    expect(await store.releaseVideoCopy(id, undefined, at + 5)).toBe(true)
    expect(await store.leaseVideoCopy(id, at + 4, at + minute)).toBeUndefined()
    expect(await other.leaseVideoCopy(id, at + 5, at + minute)).toMatchObject({ id })
    // It could not be copied: it ends with the upstream's link, and is copied later.
    const ends = await Promise.all([store, other].map((each) => each.endVideoTask(id, at + 9, undefined, at + 20)))
    expect(ends.filter(Boolean)).toHaveLength(1)
    expect(await row()).toMatchObject({ phase: 'ended', status: 'succeeded', task: '{"status":"succeeded"}' })
    expect(await store.leaseVideoCopy(id, at + 20, at + minute)).toMatchObject({ id })
    expect(await store.releaseVideoCopy(id, '{"video":"key"}')).toBe(true)
    expect(await row()).toMatchObject({ result: '{"video":"key"}', endedAt: at + 9 })
    expect((await store.dueVideoCopies(at + minute, 1000)).map((each) => each.id)).not.toContain(id)
  })

  test('that wait know how many start before them, and when about', async () => {
    const [ann, bob, cyd, model] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
    const limits = { running: 2, weightOf: (user: string) => (user === cyd ? 2 : 1) }
    const add = async (user: string) => {
      const task = newTask({ user, model })
      await store.addVideoTask(task, { ...limits, running: 0 }, at)
      return task
    }
    const anns = [await add(ann), await add(ann), await add(ann)]
    const bobs = [await add(bob), await add(bob)]
    const cyds = [await add(cyd), await add(cyd)]
    const all = [...anns, ...bobs, ...cyds]
    const places = async (now: number) => {
      const found = await Promise.all(all.map((task) => other.videoQueuePlace(task, limits, now)))
      return new Map(all.map((task, nth) => [task.id, found[nth]]))
    }
    const before = await places(at)
    expect([...before.values()].map((place) => place?.startsInMs)).toEqual(all.map(() => undefined))
    const order: string[] = []
    for (const _ of all) {
      const claimed = await store.claimVideoTask(model, limits, at, at + 1)
      if (!claimed) throw new Error('no task is claimed')
      order.push(claimed.id)
      await store.confirmVideoTask(claimed, `up-${claimed.id}`, at, at)
      await store.moveVideoTasks([{ id: claimed.id, status: 'failed', task: '{}', dueAt: at }], at + minute)
    }
    // Users with the same pass are in the order of their first tasks, which the place does not tell.
    for (const [nth, id] of order.entries())
      expect(Math.abs((before.get(id)?.before ?? 99) - nth)).toBeLessThanOrEqual(2)
    expect(before.get(anns[2]?.id ?? '')?.before).toBe(6)
    expect(await other.videoQueuePlace(anns[0] as NewVideoTask, limits, at + 2_000)).toBeUndefined()
    const later = await add(ann)
    expect(await other.videoQueuePlace(later, limits, at + 4_000)).toEqual({ before: 0, startsInMs: minute / 2 })
    const placeOfMore = async (user: string, now: number, more = limits) =>
      placeOfNext(user, await other.videoQueueLine(model, now), more)
    expect(await placeOfMore(ann, at + 6_000)).toEqual({ before: 1, startsInMs: minute })
    const claimed = await store.claimVideoTask(model, limits, at, at + 1)
    // One of two slots is free, and nobody waits.
    expect(await placeOfMore(bob, at + 8_000)).toBeUndefined()
    expect(await placeOfMore(bob, at + 8_000, { ...limits, running: 1 })).toEqual({ before: 0, startsInMs: minute })
    await store.dropVideoTask(claimed as ClaimedVideoTask)
  })

  test('are swept in batches after their end, and pools when nobody uses them', async () => {
    const long = at - 10_000 * minute
    const old = [newTask({ createdAt: long }), newTask({ createdAt: long }), newTask({ createdAt: long })]
    for (const task of old) {
      await store.addVideoTask(task, { running: 0 }, long)
      await store.cancelWaitingVideoTask(task.user, task.id, long)
    }
    const waiting = newTask({ createdAt: long })
    await store.addVideoTask(waiting, { running: 0 }, long)
    const running = await submitted(newTask({ createdAt: long }), 'running')
    const sweep = async () => (await other.sweepVideoTasks(long + 1, 2)).map(({ id }) => id)
    expect(await other.sweepVideoTasks(long, 2)).toEqual([])
    expect([...(await sweep()), ...(await sweep())].sort()).toEqual(old.map(({ id }) => id))
    expect(await sweep()).toEqual([])
    expect(await store.videoTask(waiting.user, waiting.id)).toMatchObject({ phase: 'waiting' })
    expect(running).toBeString()
    expect(await other.sweepVideoPools(long + 1, 2)).toBe(2)
    expect(await other.sweepVideoPools(long + 1, 2)).toBe(1)
    expect(await other.sweepVideoPools(long + 1, 2)).toBe(0)
    expect(await other.claimVideoTask(waiting.model, { running: 1 }, at, at)).toMatchObject({ id: waiting.id })
  })
})
