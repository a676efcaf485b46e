import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { PoolLimits } from '../../plugins/video-generation/store/pool.ts'
import type { ClaimedVideoTask } from '../../plugins/video-generation/store/queue.ts'
import type { DescribeVideoTask, NewVideoTask } from '../../plugins/video-generation/tasks/task.ts'
import { eachVideoQueue, type RecordedQueue } from '../support/video-queues.ts'

const at = 1_700_000_000_000
const day = 86_400_000

let made = 0
const newTask = (more: Partial<NewVideoTask> = {}): NewVideoTask => ({
  ...{ id: `cgt-${String(made++).padStart(8, '0')}`, user: 'ann', model: `model-${randomUUID()}` },
  ...{ serviceTier: 'default', fields: '{"a":1}', request: '{"model":"m"}', createdAt: at, expiresAt: at + 2 * day },
  ...more,
})

eachVideoQueue('video tasks', (queue) => {
  let store: RecordedQueue
  let other: RecordedQueue
  beforeAll(async () => {
    store = await queue.open()
    other = await queue.open()
  })

  const addClaimed = async (task: NewVideoTask, limits?: PoolLimits): Promise<ClaimedVideoTask> => {
    const added = await store.addVideoTask(task, limits, at + 1000)
    if (added.outcome !== 'claimed') throw new Error(`the task is ${added.outcome}`)
    return added.task
  }

  test('without limits are claimed at once, and go through all phases to a booked end', async () => {
    const user = randomUUID()
    const wanted = newTask({ user, token: 'token-1' })
    const task = await addClaimed(wanted)
    const { request, ...kept } = wanted
    expect(task).toMatchObject({
      ...wanted,
      phase: 'submitting',
      status: 'queued',
      claimedAt: at,
      leaseUntil: at + 1000,
    })
    expect(task.nonce).toBeWithin(172_800 - 999, 172_801)
    expect(await other.confirmVideoTask(task, `up-${task.id}`, at + 5, at + 10)).toBe(true)
    expect(await store.confirmVideoTask(task, `up2-${task.id}`, at + 5, at + 10)).toBe(false)
    expect(await store.videoTask('bob', task.id)).toBeUndefined()
    expect(await store.videoTask(user, task.id)).toMatchObject({ ...kept, phase: 'submitted', submittedAt: at + 5 })
    expect((await store.dueVideoTasks(at + 10, 1000)).map(({ id }) => id)).toContain(task.id)
    const move = { id: task.id, task: '{"status":"running"}', dueAt: at + 100 }
    expect(await store.moveVideoTasks([{ ...move, status: 'running' }], at + 20)).toMatchObject([
      { task: { status: 'running', phase: 'submitted', dueAt: at + 100 }, freed: false },
    ])
    expect(await store.moveVideoTasks([{ ...move, status: 'queued', task: '{}' }], at + 21)).toEqual([])
    const usage = { completionTokens: 100, seconds: 5, cost: 7 }
    const end = { ...move, status: 'succeeded', task: '{"status":"succeeded"}', usage } as const
    const ends = await Promise.all([store, other].map((each) => each.moveVideoTasks([end], at + 30)))
    expect(ends.flat()).toMatchObject([
      { task: { status: 'succeeded', phase: 'ended', endedAt: at + 30, task: end.task }, freed: true },
    ])
    expect(await store.listUsage({ user })).toMatchObject([
      {
        user,
        token: 'token-1',
        model: wanted.model,
        calls: 1,
        unreported: 0,
        outputTokens: 100,
        videoSeconds: 5,
        cost: 7,
      },
    ])
    expect(await store.videoTasks(user, {}, { offset: 0, limit: 10 })).toMatchObject({
      tasks: [{ id: task.id }],
      total: 1,
    })
    expect(await store.deleteVideoTask('bob', task.id, at)).toBeUndefined()
    expect(await store.deleteVideoTask(user, task.id, at)).toMatchObject({ id: task.id })
    expect(await store.videoTask(user, task.id)).toBeUndefined()
  })

  test('tell their users each status once, in the transaction that changes it', async () => {
    const [user, model] = [randomUUID(), randomUUID()]
    const describe: DescribeVideoTask = ({ id, status }, isDeleted) => ({
      type: `video.${isDeleted ? 'deleted' : status}`,
      data: JSON.stringify({ id, status }),
    })
    store.describeVideoEvents?.(describe)
    const told = async () => {
      const events = await store.eventsOf(user, 0, 100)
      return events.map(({ type, data }) => `${type} ${JSON.parse(data).id.slice(-1)}`)
    }
    const limits = { running: 1 }
    const add = async (last: string, more: Partial<NewVideoTask> = {}) => {
      const task = newTask({ user, model, id: `${randomUUID()}-${last}`, ...more })
      return { id: task.id, ...(await store.addVideoTask(task, limits, at + 1000)) }
    }
    const first = await add('1')
    if (first.outcome !== 'claimed') throw new Error('the slot is free')
    expect(await told()).toEqual([])
    await store.releaseVideoTask(first.task, at, { kind: 'queue', pauseMs: 0 })
    const second = await add('2')
    await add('3', { expiresAt: at + 5 })
    const claimed = await store.claimVideoTask(model, limits, at, at + 1000)
    if (!claimed) throw new Error('the slot is free')
    const statuses = ['running', 'running', 'queued', 'succeeded', 'failed'] as const
    expect(await store.confirmVideoTask(claimed, `up-${first.id}`, at, at)).toBe(true)
    for (const status of statuses) {
      await store.moveVideoTasks([{ id: first.id, status, task: '{}', dueAt: at, copy: true }], at)
    }
    await store.endVideoTask(first.id, at, '{"video":"key"}')
    await store.cancelWaitingVideoTask(user, second.id, at)
    expect(await store.expireWaitingVideoTasks(at + 5, 10)).toBe(1)
    await store.deleteVideoTask(user, first.id, at)
    expect(await told()).toEqual([
      ...['video.queued 1', 'video.queued 2', 'video.queued 3', 'video.running 1', 'video.succeeded 1'],
      ...['video.cancelled 2', 'video.expired 3', 'video.deleted 1'],
    ])
    store.describeVideoEvents?.(() => {
      throw new TypeError('no description')
    })
    await expect(store.addVideoTask(newTask({ user, model, id: 'undescribed' }), { running: 0 }, at)).rejects.toThrow()
    store.describeVideoEvents?.(describe)
    expect(await store.videoTask(user, 'undescribed')).toBeUndefined()
  })

  test('are cancelled by their user only, while they wait', async () => {
    const task = newTask({ user: 'ann' })
    await store.addVideoTask(task, { running: 0 }, at)
    expect(await store.cancelWaitingVideoTask('bob', task.id, at)).toBe(false)
    expect(await store.cancelWaitingVideoTask('ann', task.id, at)).toBe(true)
    expect(await other.cancelWaitingVideoTask('ann', task.id, at)).toBe(false)
  })

  test('wait for a slot, and get it in turn', async () => {
    const model = randomUUID()
    const limits = { running: 1 }
    const add = (user: string) => store.addVideoTask(newTask({ user, model }), limits, at + 1000)
    const first = await addClaimed(newTask({ user: 'ann', model }), limits)
    for (const user of ['ann', 'ann', 'bob', 'ann']) expect(await add(user)).toEqual({ outcome: 'waiting' })
    expect(await store.poolsWithWaiting(at)).toContain(model)
    expect(await other.claimVideoTask(model, limits, at, at + 1000)).toBeUndefined()
    let running = first
    const order: string[] = []
    for (let nth = 0; nth < 4; nth++) {
      await store.confirmVideoTask(running, `up-${running.id}`, at, at)
      await store.moveVideoTasks([{ id: running.id, status: 'failed', task: '{}', dueAt: at }], at + 60_000)
      const next = await other.claimVideoTask(model, limits, at, at + 1000)
      if (!next) throw new Error('no task is claimed')
      order.push(next.user)
      running = next
    }
    expect(order).toEqual(['bob', 'ann', 'ann', 'ann'])
    expect(await store.claimVideoTask(model, limits, at, at + 1000)).toBeUndefined()
  })
})
