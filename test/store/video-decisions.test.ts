import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { PoolLimits } from '../../plugins/video-generation/store/pool.ts'
import type { VideoStatus } from '../../plugins/video-generation/tasks/statuses.ts'
import type { NewVideoTask } from '../../plugins/video-generation/tasks/task.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

const at = 1_700_000_000_000
const minute = 60_000
const day = 86_400_000

let made = 0
const newTask = (more: Partial<NewVideoTask> = {}): NewVideoTask => ({
  ...{ id: `cgt-${String(made++).padStart(8, '0')}`, user: randomUUID(), model: randomUUID(), serviceTier: 'default' },
  ...{ fields: '{}', request: '{}', createdAt: at, expiresAt: at + 2 * day },
  ...more,
})

eachDatabase('decisions about video tasks', (database) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await database.open()
    other = await database.open()
  })

  const upstreamId = () => `up-${randomUUID()}`
  /** A task whose create call may be on its way until `at + minute`. */
  const claimed = async (task = newTask(), limits?: PoolLimits) => {
    const added = await store.addVideoTask(task, limits, at + minute)
    if (added.outcome !== 'claimed') throw new Error(`the task is ${added.outcome}`)
    return added.task
  }
  const submitted = async (task = newTask(), limits?: PoolLimits) => {
    const claim = await claimed(task, limits)
    await store.confirmVideoTask(claim, upstreamId(), at, at)
    return claim
  }
  const move = async (id: string, status: VideoStatus, now: number, more: object = {}) =>
    store.moveVideoTasks([{ id, status, task: `{"status":"${status}"}`, dueAt: now, ...more }], now)
  /** A task that runs for too long since `at + day`. */
  const overrunning = async (task = newTask(), limits?: PoolLimits) => {
    const { id, user, model } = await submitted(task, limits)
    await move(id, 'running', at + 1)
    await move(id, 'running', at + day, { overruns: true })
    return { id, user, model }
  }
  /** A task that has failed because several tasks of the upstream may be its own. */
  const ambiguous = async (task = newTask()) => {
    const claim = await claimed(task)
    await store.failVideoTask(claim, '{"status":"failed"}', at + minute, true)
    return claim
  }
  const idsOf = async (filter: Parameters<Store['listVideoTasks']>[0], now = at + 2 * minute, limit = 100) =>
    (await other.listVideoTasks(filter, { limit }, now)).tasks.map(({ id }) => id)

  test('a task that runs for too long frees its slot once, and ends as usual', async () => {
    const limits = { running: 1 }
    const task = newTask()
    const { id, user, model } = await submitted(task, limits)
    const next = newTask({ model, user })
    expect((await store.addVideoTask(next, limits, at + minute)).outcome).toBe('waiting')
    expect(await move(id, 'running', at + 5)).toMatchObject([{ freed: false, overruns: false }])
    expect(await store.videoTask(user, id)).toMatchObject({ runningAt: at + 5 })
    await move(id, 'running', at + 6)
    expect(await store.videoTask(user, id)).toMatchObject({ runningAt: at + 5 })
    expect(await store.claimVideoTask(model, limits, at + 7, at + minute)).toBe(undefined)

    const both = [store, other].map((each) =>
      each.moveVideoTasks([{ id, status: 'running', task: '{}', dueAt: at, overruns: true }], at + day),
    )
    expect((await Promise.all(both)).flat()).toMatchObject([
      { freed: false, overruns: true, task: { status: 'running' } },
    ])
    expect(await store.countVideoTasks(1_000)).toContainEqual({ pool: model, phase: 'overrunning', count: 1 })
    expect(await store.videoTask(user, id)).toMatchObject({ phase: 'submitted', undecidedAt: at + day })
    // A later poll changes nothing.
    expect(await move(id, 'running', at + day + 1, { overruns: true })).toEqual([])
    expect(await store.videoTask(user, id)).toMatchObject({ undecidedAt: at + day })
    const claim = await other.claimVideoTask(model, limits, at + day, at + 2 * day)
    expect(claim).toMatchObject({ id: next.id })
    const counts = (await store.countVideoTasks(1_000)).filter(({ pool }) => pool === model)
    expect(counts.find(({ phase }) => phase === 'running')).toMatchObject({ count: 1 })

    const [end] = await move(id, 'succeeded', at + 2 * day, { usage: { completionTokens: 7, seconds: 5 } })
    expect(end).toMatchObject({ freed: true, overruns: false, task: { status: 'succeeded', phase: 'ended' } })
    expect(await move(id, 'succeeded', at + 2 * day, { usage: { completionTokens: 7 } })).toEqual([])
    expect((await store.videoTask(user, id))?.undecidedAt).toBe(undefined)
    expect((await store.countVideoTasks(1_000)).filter(({ pool }) => pool === model)).toEqual([
      { pool: model, phase: 'running', count: 1 },
    ] as never)
    const [usage, ...others] = await store.listUsage({ user })
    expect([usage, others]).toMatchObject([{ calls: 1, outputTokens: 7, videoSeconds: 5 }, []])
  })

  test('how long it ran says nothing about the other tasks of its pool', async () => {
    const limits = { running: 1 }
    const { id, user, model } = await overrunning(newTask(), limits)
    await store.addVideoTask(newTask({ model, user }), limits, at + 2 * day)
    const waiting = newTask({ model, user })
    await store.addVideoTask(waiting, limits, at + 2 * day)
    await move(id, 'failed', at + 2 * day)
    expect(await store.videoQueuePlace(waiting, limits, at + 2 * day)).toEqual({ before: 0 })
  })

  test('undecided are tasks with an unknown outcome, and those that run for too long', async () => {
    const user = randomUUID()
    const of = (more = {}) => newTask({ user, ...more })
    const lost = await claimed(of())
    const late = await overrunning(of())
    const failed = await ambiguous(of())
    const waiting = of()
    await store.addVideoTask(waiting, { running: 0 }, at)
    await submitted(of())
    const rejected = await claimed(of())
    await store.failVideoTask(rejected, '{"status":"failed"}', at + minute)

    expect(await idsOf({ user, status: 'undecided' })).toEqual([failed.id, late.id, lost.id])
    // The create call of the first one may still be on its way.
    expect(await idsOf({ user, status: 'undecided' }, at + minute)).toEqual([failed.id, late.id])
    expect(await idsOf({ user, status: 'failed' })).toEqual([rejected.id, failed.id])
    expect(await idsOf({ status: 'undecided' })).toEqual(expect.arrayContaining([failed.id, late.id, lost.id]))
    expect(await idsOf({ user: randomUUID(), status: 'undecided' })).toEqual([])
  })

  test('lists of all users have pages, and the names of users', async () => {
    const name = `ann ${randomUUID()}`
    const ann = await store.addUser({ name, createdAt: at })
    if (ann === undefined) throw new Error('the name is taken')
    const users = [ann, randomUUID(), ann, ann, randomUUID()]
    const tasks: string[] = []
    for (const user of users) tasks.push((await overrunning(newTask({ user }))).id)
    const ours = new Set(tasks)
    for (const status of ['undecided', 'running', undefined] as const) {
      const walked: string[] = []
      let after: string | undefined
      do {
        const page = await other.listVideoTasks({ status }, { limit: 2, after }, at + 2 * day)
        expect(page.tasks.length).toBeLessThanOrEqual(2)
        for (const { id, user, userName } of page.tasks) {
          walked.push(id)
          if (ours.has(id)) expect(userName).toBe(user === ann ? name : undefined)
        }
        after = page.next
      } while (after !== undefined)
      expect(walked.filter((id) => ours.has(id))).toEqual(tasks.toReversed())
      expect(new Set(walked).size).toBe(walked.length)
    }
    const own = await other.listVideoTasks({ user: ann, status: 'running' }, { limit: 3 }, at + 2 * day)
    expect([own.tasks.map(({ id }) => id), own.next]).toEqual([[tasks[3], tasks[2], tasks[0]] as string[], undefined])
  })

  test('a task of each kind can be adopted once, and is polled and takes a slot from then on', async () => {
    for (const begin of [() => claimed(), () => ambiguous(), () => overrunning()]) {
      const { id, user, model } = await begin()
      const [one, two] = [upstreamId(), upstreamId()]
      const now = at + 3 * day
      const adoptions = await Promise.all([store.adoptVideoTask(id, one, now), other.adoptVideoTask(id, two, now)])
      expect(adoptions.toSorted()).toEqual(['adopted', 'decided'])
      const adopted = adoptions[0] === 'adopted' ? one : two
      const task = await store.videoTask(user, id)
      expect(task).toMatchObject({ phase: 'submitted', upstreamId: adopted, submittedAt: now, dueAt: now })
      expect([task?.undecidedAt, task?.endedAt]).toEqual([undefined, undefined])
      expect((await store.dueVideoTasks(now, 1_000)).map((due) => due.id)).toContain(id)
      expect(await store.countVideoTasks(1_000)).toContainEqual({ pool: model, phase: 'running', count: 1 })
      expect(await idsOf({ user, status: 'undecided' }, now)).toEqual([])
      await move(id, 'succeeded', now + 1, { usage: { completionTokens: 3 } })
      expect(await store.videoTask(user, id)).toMatchObject({ phase: 'ended', status: 'succeeded' })
    }
  })

  test('an overrunning task that is adopted may run as long as another one', async () => {
    const { id, user } = await overrunning()
    await store.adoptVideoTask(id, upstreamId(), at + 3 * day)
    expect(await store.videoTask(user, id)).toMatchObject({ status: 'running', runningAt: at + 3 * day })
  })

  test('the upstream id of another task is not adopted', async () => {
    const taken = await submitted()
    const known = (await store.videoTask(taken.user, taken.id))?.upstreamId ?? ''
    const { id, user } = await ambiguous()
    expect(await store.adoptVideoTask(id, known, at + day)).toBe('upstream-id-taken')
    expect(await idsOf({ user, status: 'undecided' })).toEqual([id])
  })

  test('a task of each kind can be given up once', async () => {
    for (const [begin, error] of [
      [() => claimed(), '{"status":"failed","error":"given up"}'],
      [() => overrunning(), '{"status":"failed","error":"given up"}'],
      // It keeps the error with which it has failed.
      [() => ambiguous(), '{"status":"failed"}'],
    ] as const) {
      const { id, user, model } = await begin()
      const give = (each: Store) => each.abandonVideoTask(id, '{"status":"failed","error":"given up"}', at + 3 * day)
      expect((await Promise.all([give(store), give(other)])).toSorted()).toEqual([false, true])
      expect(await store.videoTask(user, id)).toMatchObject({ phase: 'ended', status: 'failed', task: error })
      expect(await idsOf({ user, status: 'undecided' }, at + 3 * day)).toEqual([])
      expect((await store.countVideoTasks(1_000)).filter(({ pool }) => pool === model)).toEqual([])
      // Its end at the upstream is nobody's.
      expect(await move(id, 'succeeded', at + 4 * day, { usage: { completionTokens: 9 } })).toEqual([])
      expect(await store.listUsage({ user })).toEqual([])
    }
  })

  test('a task that needs no decision is neither adopted nor given up', async () => {
    const waiting = newTask()
    await store.addVideoTask(waiting, { running: 0 }, at)
    const calling = await claimed()
    const running = await submitted()
    const ended = await submitted()
    await move(ended.id, 'failed', at)
    for (const { id } of [waiting, calling, running, ended]) {
      const before = await store.anyVideoTask(id)
      expect(await store.adoptVideoTask(id, upstreamId(), at + minute)).toBe('decided')
      expect(await store.abandonVideoTask(id, '{}', at + minute)).toBe(false)
      expect(await store.anyVideoTask(id)).toEqual(before as never)
    }
    expect(await store.adoptVideoTask('cgt-nothing', upstreamId(), at)).toBe('unknown')
    expect(await store.abandonVideoTask('cgt-nothing', '{}', at)).toBe(false)
    expect(await store.anyVideoTask('cgt-nothing')).toBe(undefined)
  })

  test('a late answer of the create call does not change what was decided', async () => {
    const claim = await claimed()
    await store.abandonVideoTask(claim.id, '{"status":"failed"}', at + day)
    expect(await store.confirmVideoTask(claim, upstreamId(), at, at)).toBe(false)
    expect(await store.releaseVideoTask(claim, at)).toBe(false)
    expect(await store.dropVideoTask(claim)).toBe(false)
    expect(await store.videoTask(claim.user, claim.id)).toMatchObject({ phase: 'ended', status: 'failed' })
  })

  test('the count of waiting tasks has the time of the oldest', async () => {
    const model = randomUUID()
    for (const minutes of [3, 1, 2])
      await store.addVideoTask(newTask({ model, createdAt: at + minutes * minute }), { running: 0 }, at)
    expect(await store.countVideoTasks(1_000)).toContainEqual({
      ...{ pool: model, phase: 'waiting', count: 3, oldestAt: at + minute },
    })
  })
})
