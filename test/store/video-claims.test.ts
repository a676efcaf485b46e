import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { PoolLimits } from '../../plugins/video-generation/store/pool.ts'
import type { ClaimedVideoTask } from '../../plugins/video-generation/store/queue.ts'
import type { NewVideoTask } from '../../plugins/video-generation/tasks/task.ts'
import { eachVideoQueue, type RecordedQueue } from '../support/video-queues.ts'

const at = 1_700_000_000_000
const minute = 60_000

const newTask = (more: Partial<NewVideoTask> = {}): NewVideoTask => ({
  ...{ id: randomUUID(), user: randomUUID(), model: randomUUID(), serviceTier: 'default', fields: '{}', request: '{}' },
  ...{ createdAt: at, expiresAt: at + 172_800_000 },
  ...more,
})

eachVideoQueue('claims of video tasks', (queue) => {
  let store: RecordedQueue
  let other: RecordedQueue
  beforeAll(async () => {
    store = await queue.open()
    other = await queue.open()
  })

  const claimed = async (
    task: NewVideoTask,
    limits?: PoolLimits,
    leaseUntil = at + 1000,
  ): Promise<ClaimedVideoTask> => {
    const added = await store.addVideoTask(task, limits, leaseUntil)
    if (added.outcome !== 'claimed') throw new Error(`the task is ${added.outcome}`)
    return added.task
  }
  const claim = async (pool: string, limits: PoolLimits, now = at): Promise<ClaimedVideoTask> => {
    const next = await other.claimVideoTask(pool, limits, now, now + 1000)
    if (!next) throw new Error('no task is claimed')
    return next
  }
  const upstreamId = () => `up-${randomUUID()}`

  test('end for their process when another one has settled them', async () => {
    const task = newTask()
    const limits = { running: 1 }
    const late = await claimed(task, limits)
    const unsettled = async (now: number) => (await other.unsettledVideoTasks(now, 1000)).map(({ id }) => id)
    expect(await unsettled(at + 1000)).not.toContain(task.id)
    expect(await unsettled(at + 1001)).toContain(task.id)
    await other.deferVideoClaim(late, at + 2000)
    expect(await unsettled(at + 1999)).not.toContain(task.id)
    expect(await unsettled(at + 2000)).toContain(task.id)
    expect(await other.releaseVideoTask(late, at)).toBe(true)
    const next = await claim(task.model, limits)
    expect(next).toMatchObject({ id: task.id, attempts: late.attempts + 1 })
    expect(await store.confirmVideoTask(late, upstreamId(), at, at)).toBe(false)
    expect(await store.releaseVideoTask(late, at)).toBe(false)
    expect(await store.failVideoTask(late, '{}', at)).toBe(false)
    expect(await store.dropVideoTask(late)).toBe(false)
    await store.deferVideoClaim(late, at + 5000)
    expect(await store.videoTask(task.user, task.id)).toEqual({ ...next, request: undefined } as never)
  })

  test('are confirmed with one upstream id, which belongs to one task', async () => {
    const [one, two] = [await claimed(newTask()), await claimed(newTask())]
    const id = upstreamId()
    expect(await store.confirmVideoTask(one, id, at, at)).toBe(true)
    expect(await other.confirmVideoTask(one, id, at + 1, at + 1)).toBe(true)
    expect(await other.confirmVideoTask(one, upstreamId(), at, at)).toBe(false)
    expect(await store.confirmVideoTask(two, id, at, at)).toBe(false)
    expect(await store.videoTask(one.user, one.id)).toMatchObject({ upstreamId: id, submittedAt: at })
    expect(await store.videoTask(two.user, two.id)).toMatchObject({ phase: 'submitting' })
    expect(await store.knownUpstreamIds([id, 'unknown'])).toEqual(new Set([id]))
  })

  test('of one user have different nonces, also those of two processes at once', async () => {
    // More of them than there are random values.
    for (const [seconds, count, least, most] of [
      [172_800, 1_050, 170_000, 172_800],
      [3_600, 100, 3_600, 5_400],
    ] as const) {
      const user = randomUUID()
      const nonces: number[] = []
      while (nonces.length < count) {
        const tasks = Array.from({ length: 10 }, () => newTask({ user, expiresAt: at + seconds * 1000 }))
        const added = await Promise.all(
          tasks.map((task, nth) => (nth % 2 ? store : other).addVideoTask(task, undefined, at)),
        )
        nonces.push(...added.flatMap((each) => (each.outcome === 'claimed' ? each.task.nonce : [])))
      }
      expect(new Set(nonces).size).toBe(count)
      for (const nonce of nonces) expect(nonce).toBeWithin(least, most + 1)
    }
  }, 300_000)

  test('that wait are bounded by number and by bytes for each user', async () => {
    const [model, ann, bob] = [randomUUID(), randomUUID(), randomUUID()]
    const limits = { running: 0, waitingPerUser: 2, waitingBytesPerUser: 25 }
    const add = async (user: string, bytes: number) => {
      const task = newTask({ user, model, request: 'x'.repeat(bytes) })
      const { outcome } = await store.addVideoTask(task, limits, at)
      expect((await store.videoTask(user, task.id)) !== undefined).toBe(outcome === 'waiting')
      return outcome
    }
    expect([await add(ann, 10), await add(ann, 16), await add(ann, 15), await add(ann, 0)]).toEqual([
      ...(['waiting', 'waiting-full', 'waiting', 'waiting-full'] as const),
    ])
    expect([await add(bob, 25), await add(bob, 1)]).toEqual(['waiting', 'waiting-full'])
  })

  test('are fewer after a 429 for running tasks, and later as many as before', async () => {
    const model = randomUUID()
    const limits = { running: 5 }
    const add = (now: number) => store.addVideoTask(newTask({ model, createdAt: now }), limits, now + 1000)
    const outcomes = async (count: number, now = at) => {
      const all = []
      for (let nth = 0; nth < count; nth++) all.push((await add(now)).outcome)
      return all
    }
    expect(await outcomes(2)).toEqual(['claimed', 'claimed'])
    expect(await store.releaseVideoTask(await claimed(newTask({ model }), limits), at, { kind: 'running' })).toBe(true)
    expect(await other.claimVideoTask(model, limits, at, at)).toBeUndefined()
    expect(await other.claimVideoTask(model, limits, at + 9 * minute, at)).toBeUndefined()
    expect(await outcomes(1, at + 9 * minute)).toEqual(['waiting'])
    await claim(model, limits, at + 10 * minute)
    expect(await outcomes(3, at + 10 * minute)).toEqual(['waiting', 'waiting', 'waiting'])
    await claim(model, limits, at + 60 * minute)
    await claim(model, limits, at + 60 * minute)
    expect(await other.claimVideoTask(model, limits, at + 60 * minute, at)).toBeUndefined()
  })

  test('pause after a 429 for running tasks when all slots are taken by others', async () => {
    const task = newTask()
    const limits = { running: 5 }
    await store.releaseVideoTask(await claimed(task, limits), at, { kind: 'running' })
    expect(await other.claimVideoTask(task.model, limits, at + 999, at)).toBeUndefined()
    expect((await claim(task.model, limits, at + 1000)).id).toBe(task.id)
  })

  test('pause longer with each 429 for frequent calls, until a call succeeds', async () => {
    const task = newTask()
    const { model } = task
    const limits = { running: 5 }
    let now = at
    let next = await claimed(task, limits)
    for (const pause of [1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1000)) {
      await store.releaseVideoTask(next, now, { kind: 'rate' })
      expect(await other.claimVideoTask(model, limits, now + pause - 1, now)).toBeUndefined()
      expect(await store.poolsWithWaiting(now + pause - 1)).not.toContain(model)
      expect(await store.poolsWithWaiting(now + pause)).toContain(model)
      now += pause
      next = await claim(model, limits, now)
    }
    await store.confirmVideoTask(next, upstreamId(), now, now)
    const second = await claimed(newTask({ model, createdAt: now }), limits)
    await store.releaseVideoTask(second, now, { kind: 'rate' })
    next = await claim(model, limits, now + 1000)
    await store.releaseVideoTask(next, now, { kind: 'rate', pauseMs: 123 })
    expect(await other.claimVideoTask(model, limits, now + 122, now)).toBeUndefined()
    await claim(model, limits, now + 1000)
  })

  test('go on after a 429 for the queue as soon as a task of the pool leaves it', async () => {
    const model = randomUUID()
    const limits = { running: 5 }
    const running = await claimed(newTask({ model }), limits)
    await store.confirmVideoTask(running, upstreamId(), at, at)
    await store.releaseVideoTask(await claimed(newTask({ model }), limits), at, { kind: 'queue', pauseMs: minute })
    expect(await other.claimVideoTask(model, limits, at + 1, at)).toBeUndefined()
    await store.moveVideoTasks([{ id: running.id, status: 'running', task: '{}', dueAt: at }], at + 2)
    await claim(model, limits, at + 3)
  })

  test('keep their turn when the upstream has rejected the call for the time being', async () => {
    const [model, ann, bob] = [randomUUID(), randomUUID(), randomUUID()]
    const none = { running: 0 }
    const limits = { running: 1 }
    for (const user of [ann, bob, ann, bob]) await store.addVideoTask(newTask({ user, model }), none, at)
    for (let nth = 0; nth < 3; nth++) {
      const first = await claim(model, limits)
      expect(first.user).toBe(ann)
      await store.releaseVideoTask(first, at, { kind: 'rate', pauseMs: 0 })
    }
  })

  test('without a slot go through no pool', async () => {
    const model = randomUUID()
    const flex = await claimed(newTask({ model, serviceTier: 'flex' }))
    await claimed(newTask({ model }), { running: 1 })
    expect(await store.releaseVideoTask(flex, at)).toBe(false)
    expect(await store.dropVideoTask(flex)).toBe(true)
    expect(await store.videoTask(flex.user, flex.id)).toBeUndefined()
  })
})
