import { expect } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { PoolLimits } from '../../plugins/video-generation/store/pool.ts'
import type { ClaimedVideoTask, VideoMove } from '../../plugins/video-generation/store/queue.ts'
import type { NewVideoTask } from '../../plugins/video-generation/tasks/task.ts'
import type { RecordedQueue, StoredTask, TestVideoQueue } from '../support/video-queues.ts'

export const start = 1_700_000_000_000
export const hour = 3_600_000

/** Random numbers that are the same for the same seed (mulberry32). */
const randomOf = (seed: number) => {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (max: number) => Math.floor(next() * max)
  return { below, pick: <Item>(items: readonly Item[]): Item | undefined => items[below(items.length)] }
}

const order = ['waiting', 'submitting', 'submitted', 'ended']

export const newTask = (user: string, model: string, now: number, id: string = randomUUID()): NewVideoTask => ({
  ...{ id, user, model, serviceTier: 'default', fields: '{}', request: `{"id":"${id}"}` },
  ...{ createdAt: now, expiresAt: now + 100 * hour },
})

const countBy = (tasks: readonly StoredTask[], phases: readonly string[]) => {
  const counts = new Map<string, number>()
  for (const { user, phase } of tasks) if (phases.includes(phase)) counts.set(user, (counts.get(user) ?? 0) + 1)
  return { counts, total: [...counts.values()].reduce((sum, count) => sum + count, 0) }
}

/** Two processes take random steps on a queue, and crash: its rules hold after each step, and at the end. */
export const walkVideoQueue = async (
  { tasksOf }: Pick<TestVideoQueue, 'tasksOf'>,
  stores: readonly [RecordedQueue, RecordedQueue],
  seed: number,
): Promise<void> => {
  const random = randomOf(seed)
  const pool = `pool-${seed}-${randomUUID()}`
  const users = Array.from({ length: 2 + random.below(5) }, (_, index) => `${pool}-user-${index}`)
  const weights = new Map(users.map((user) => [user, 1 + random.below(4)]))
  const running = 1 + random.below(5)
  const limits: PoolLimits = {
    ...{ running, runningPerUser: 1 + random.below(running), waitingPerUser: 1 + random.below(6) },
    weightOf: (user) => weights.get(user) ?? 1,
  }
  const cap = limits.runningPerUser ?? 0
  let now = start
  const claims: ClaimedVideoTask[] = []
  const seen = new Set<string>()
  const expected = new Set<string>()
  const ends = new Map<string, number>()
  const before = new Map<string, StoredTask>()

  const got = (claim: ClaimedVideoTask) => {
    const key = `${claim.id} ${claim.attempts}`
    expect(seen.has(key)).toBe(false)
    seen.add(key)
    expect(claim.request).toBe(`{"id":"${claim.id}"}`)
    claims.push(claim)
  }
  const add = async (store: RecordedQueue) => {
    const task = newTask(random.pick(users) ?? '', pool, now)
    const added = await store.addVideoTask(task, limits, now + 1000)
    if (added.outcome !== 'waiting-full') expected.add(task.id)
    if (added.outcome === 'claimed') got(added.task)
  }
  const claim = async (store: RecordedQueue) => {
    const claimed = await store.claimVideoTask(pool, limits, now, now + 1000)
    if (claimed) got(claimed)
  }
  /** One of the last claims, or sometimes any that was ever made: a process may be late. */
  const withClaim =
    (act: (store: RecordedQueue, of: ClaimedVideoTask) => Promise<unknown>) => async (store: RecordedQueue) => {
      const one = random.pick(random.below(5) > 0 ? claims.slice(-3) : claims)
      if (one) await act(store, one)
    }
  const confirm = withClaim((store, of) => store.confirmVideoTask(of, `up-${of.id}-${of.attempts}`, now, now))
  const release = withClaim((store, of) =>
    store.releaseVideoTask(
      of,
      now,
      random.pick([undefined, undefined, { kind: 'running' }, { kind: 'rate', pauseMs: 2 }] as const),
    ),
  )
  const drop = withClaim(async (store, of) => {
    if (await store.dropVideoTask(of)) expected.delete(of.id)
  })
  const fail = withClaim((store, of) => store.failVideoTask(of, '{}', now))
  const settle = async (store: RecordedQueue) => {
    now += 2000
    for (const lost of await store.unsettledVideoTasks(now, 100)) {
      if (lost.model === pool) await store.releaseVideoTask(lost, now)
    }
  }
  const move = async (store: RecordedQueue) => {
    const moves = [...expected]
      .filter(() => random.below(3) === 0)
      .map((id): VideoMove => {
        const status = random.pick(['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const) ?? 'queued'
        return {
          id,
          status,
          task: JSON.stringify({ status }),
          usage: { completionTokens: 10, seconds: 1 },
          dueAt: now,
        }
      })
    for (const { task, freed } of await store.moveVideoTasks(moves, now)) {
      if (freed) ends.set(task.id, (ends.get(task.id) ?? 0) + 1)
    }
  }
  const cancel = async (store: RecordedQueue) => {
    const id = random.pick([...expected])
    if (id) await store.cancelWaitingVideoTask(random.pick(users) ?? '', id, now)
  }
  const suspend = withClaim((store, of) =>
    store.suspendVideoTask(of, { fields: `{"step":${now}}`, dueAt: now, limits }, now),
  )
  const suspended = async (store: RecordedQueue) =>
    (await store.suspendedVideoTasks(now, 1_000)).filter(({ model }) => model === pool)
  const goOn = async (store: RecordedQueue) => {
    for (const task of await suspended(store)) {
      expect(await store.videoTaskRequest(task.id)).toBeOneOf([`{"id":"${task.id}"}`, ''])
      const choice = random.below(4)
      if (choice === 0) await store.failVideoTask(task, '{}', now)
      else if (choice === 1) await store.suspendVideoTask(task, { fields: '{}', dueAt: now + 1, limits }, now)
      else await store.resumeVideoTask(task, '{"resumed":true}', now)
    }
  }
  const frequent = [add, add, add, claim, claim, claim, confirm, confirm, confirm, confirm, move, move]
  const steps = [...frequent, ...frequent, release, drop, fail, settle, cancel, suspend, suspend, goOn, goOn]

  const check = async () => {
    const tasks = await tasksOf(pool)
    const occupied = countBy(tasks, ['submitting', 'submitted'])
    expect(occupied.total).toBeLessThanOrEqual(running)
    for (const count of occupied.counts.values()) expect(count).toBeLessThanOrEqual(cap)
    expect(tasks.map(({ id }) => id).sort()).toEqual([...expected].sort())
    const nonces = tasks.filter(({ phase }) => phase === 'submitting').map(({ user, nonce }) => `${user} ${nonce}`)
    expect(new Set(nonces).size).toBe(nonces.length)
    for (const task of tasks) {
      const old = before.get(task.id)
      if (old) {
        expect(task.attempts).toBeGreaterThanOrEqual(old.attempts)
        if (old.phase === 'submitted' || old.phase === 'ended') {
          expect(order.indexOf(task.phase)).toBeGreaterThanOrEqual(order.indexOf(old.phase))
        }
        if (old.phase === 'ended') expect(task).toEqual(old)
        if (old.status === 'running') expect(task.status).not.toBe('queued')
      }
      before.set(task.id, task)
    }
  }

  for (let step = 0; step < 150; step++) {
    now += random.below(5)
    const chosen = Array.from({ length: 1 + random.below(3) }, () => random.pick(steps) ?? add)
    await Promise.all(chosen.map((act) => act(stores[random.below(2)] as RecordedQueue)))
    await check()
  }
  expect([...ends.values()].filter((count) => count !== 1)).toEqual([])
  expect(ends.size).toBeGreaterThan(2)
  const usage = (await Promise.all(users.map((user) => stores[0].listUsage({ user })))).flat()
  const sum = (of: (row: (typeof usage)[number]) => number | undefined) =>
    usage.reduce((total, row) => total + (of(row) ?? 0), 0)
  expect([sum(({ calls }) => calls), sum(({ videoSeconds }) => videoSeconds)]).toEqual([ends.size, ends.size])

  // No slot stays free while a user below the own maximum waits, apart from those that the upstream has refused.
  now += hour
  for (const task of await suspended(stores[0])) await stores[0].resumeVideoTask(task, '{}', now)
  for (let hours = 0; hours < 6; hours++, now += hour) await settle(stores[0])
  while (await stores[1].claimVideoTask(pool, limits, now, now + 1000)) await check()
  const tasks = await tasksOf(pool)
  const occupied = countBy(tasks, ['submitting', 'submitted'])
  const waiting = [...countBy(tasks, ['waiting']).counts.keys()]
  const canStart = waiting.filter((user) => (occupied.counts.get(user) ?? 0) < cap)
  if (occupied.total < running) expect(canStart).toEqual([])
}
