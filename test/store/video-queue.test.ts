import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { PoolLimits } from '../../plugins/video-generation/store/pool.ts'
import type { ClaimedVideoTask, VideoMove } from '../../plugins/video-generation/store/queue.ts'
import type { NewVideoTask } from '../../plugins/video-generation/tasks/task.ts'
import { eachVideoQueue, type RecordedQueue, type StoredTask } from '../support/video-queues.ts'

const start = 1_700_000_000_000
const hour = 3_600_000

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

eachVideoQueue('the queue of video tasks', (queue) => {
  let stores: readonly [RecordedQueue, RecordedQueue]
  beforeAll(async () => {
    stores = [await queue.open(), await queue.open()]
  })

  const { tasksOf } = queue

  const newTask = (user: string, model: string, now: number, id: string = randomUUID()): NewVideoTask => ({
    ...{ id, user, model, serviceTier: 'default', fields: '{}', request: `{"id":"${id}"}` },
    ...{ createdAt: now, expiresAt: now + 100 * hour },
  })

  const countBy = (tasks: readonly StoredTask[], phases: readonly string[]) => {
    const counts = new Map<string, number>()
    for (const { user, phase } of tasks) if (phases.includes(phase)) counts.set(user, (counts.get(user) ?? 0) + 1)
    return { counts, total: [...counts.values()].reduce((sum, count) => sum + count, 0) }
  }

  test.each([1, 2, 3, 4])(
    'keeps its rules under random steps of two processes that crash (seed %i)',
    async (seed) => {
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
    },
    300_000,
  )

  test('suspends a task: it takes no slot, has no place, and comes back at its old one', async () => {
    const pool = randomUUID()
    const limits = { running: 1, waitingPerUser: 2, waitingBytesPerUser: 150 }
    const added = [0, 1, 2].map((nth) => newTask('ann', pool, start, `${pool}-${nth}`))
    const [first] = await Promise.all(added.slice(0, 1).map((task) => stores[0].addVideoTask(task, limits, start + 1)))
    if (first?.outcome !== 'claimed') throw new Error('the slot is free')
    for (const task of added.slice(1)) await stores[0].addVideoTask(task, limits, start + 1)
    const suspension = { fields: '{"a":1}', dueAt: start + 10, limits }
    expect(await stores[0].suspendVideoTask(first.task, suspension, start)).toBe('suspended')
    // Its slot is free. A second one is within the maximum, and a third one is not.
    const second = await stores[1].claimVideoTask(pool, limits, start, start + 1)
    expect(second?.id).toBe(`${pool}-1`)
    expect(await stores[1].videoQueuePlace(first.task, limits, start)).toBeUndefined()
    if (!second) throw new Error('it is its turn')
    const narrow = { ...suspension, limits: { ...limits, waitingPerUser: 1 } }
    expect(await stores[1].suspendVideoTask(second, narrow, start)).toBe('full')
    const short = { ...suspension, limits: { running: 1, waitingBytesPerUser: 60 } }
    expect(await stores[1].suspendVideoTask(second, short, start)).toBe('full')
    expect((await stores[0].countVideoTasks(1_000)).filter((count) => count.pool === pool)).toMatchObject([
      { phase: 'waiting', count: 1 },
      { phase: 'running', count: 1 },
    ])
    // It is due in its time, and comes back before the younger ones.
    const due = async (now: number) =>
      (await stores[0].suspendedVideoTasks(now, 1_000)).filter(({ model }) => model === pool)
    expect(await due(start + 9)).toEqual([])
    const [task] = await due(start + 10)
    expect(task).toMatchObject({ id: first.task.id, phase: 'waiting', status: 'queued', fields: '{"a":1}' })
    expect(await stores[1].resumeVideoTask(first.task, '{"b":1}', start)).toBe(true)
    expect(await stores[0].resumeVideoTask(first.task, '{"b":1}', start)).toBe(false)
    await stores[0].failVideoTask(second, '{}', start)
    const again = await stores[0].claimVideoTask(pool, limits, start, start + 1)
    expect(again).toMatchObject({ id: first.task.id, fields: '{"b":1}', attempts: 2, request: first.task.request })
    expect(await stores[0].suspendVideoTask(first.task, suspension, start)).toBe('ended')
    // It ends like one that waits.
    if (!again) throw new Error('it is its turn')
    await stores[0].suspendVideoTask(again, suspension, start)
    expect(await stores[1].cancelWaitingVideoTask('ann', again.id, start + 2)).toBe(true)
    expect(await due(start + 20)).toEqual([])
    expect((await stores[0].dueVideoCopies(start + 1_000, 1_000)).filter(({ model }) => model === pool)).toEqual([])
    expect(await stores[0].videoTaskRequest(again.id)).toBe('')
    const last = await stores[0].claimVideoTask(pool, limits, start, start + 1)
    if (!last) throw new Error('it is its turn')
    await stores[0].suspendVideoTask(last, suspension, start)
    await stores[0].expireWaitingVideoTasks(start + 100 * hour, 1_000)
    expect(await stores[0].videoTask('ann', last.id)).toMatchObject({ phase: 'ended', status: 'expired' })
    expect(await due(start + 200 * hour)).toEqual([])
  })

  test('starts tasks of all users in turn, claimed by two processes at once', async () => {
    const pool = randomUUID()
    const users = Array.from({ length: 20 }, (_, index) => `${pool}-${String(index).padStart(2, '0')}`)
    const limits = { running: 3 }
    for (const user of users) {
      for (let nth = 0; nth < 5; nth++) {
        await stores[0].addVideoTask(newTask(user, pool, start, `${user}-${nth}`), { running: 0 }, start)
      }
    }
    const starts = new Map(users.map((user) => [user, 0]))
    for (let started = 0; started < 100; ) {
      const claimed = (
        await Promise.all(
          [0, 1, 0, 1].map((n) => (stores[n] as RecordedQueue).claimVideoTask(pool, limits, start, start + 1000)),
        )
      ).flatMap((claim) => claim ?? [])
      expect(claimed).toHaveLength(Math.min(3, 100 - started))
      started += claimed.length
      for (const { id, user } of claimed) {
        expect(id).toBe(`${user}-${starts.get(user)}`)
        starts.set(user, (starts.get(user) ?? 0) + 1)
      }
      const counts = [...starts.values()]
      // Those of one moment may be one round apart.
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
      await Promise.all(claimed.map((claim) => stores[1].failVideoTask(claim, '{}', start)))
    }
  }, 300_000)

  test('starts a task of another user before the second next of a batch', async () => {
    const pool = randomUUID()
    const limits = { running: 2 }
    const add = (user: string, store: RecordedQueue) =>
      store.addVideoTask(newTask(user, pool, start), limits, start + 1000)
    const begun: ClaimedVideoTask[] = []
    for (let nth = 0; nth < 60; nth++) {
      const added = await add('batch', stores[0])
      if (added.outcome === 'claimed') begun.push(added.task)
    }
    expect(begun).toHaveLength(2)
    const claimAfterEnd = async () => {
      const ended = begun.shift()
      if (ended) await stores[0].failVideoTask(ended, '{}', start)
      const claimed = await stores[1].claimVideoTask(pool, limits, start, start + 1000)
      if (claimed) begun.push(claimed)
      return claimed?.user
    }
    // An attempt without a free slot writes nothing.
    const before = await queue.writesOf(pool)
    expect(await stores[1].claimVideoTask(pool, limits, start, start + 1000)).toBeUndefined()
    expect(await queue.writesOf(pool)).toEqual(before)
    for (let nth = 0; nth < 10; nth++) expect(await claimAfterEnd()).toBe('batch')
    expect(await add('one', stores[1])).toEqual({ outcome: 'waiting' })
    expect(await claimAfterEnd()).toBe('one')
    await add('two', stores[1])
    await add('one', stores[1])
    expect([await claimAfterEnd(), await claimAfterEnd(), await claimAfterEnd()].toSorted()).toEqual([
      'batch',
      'one',
      'two',
    ])
  })

  test('saves no turns for a user who sent nothing', async () => {
    const pool = randomUUID()
    const [ann, bob] = [randomUUID(), randomUUID()]
    const add = async (user: string, count: number) => {
      for (let nth = 0; nth < count; nth++) {
        await stores[0].addVideoTask(newTask(user, pool, start), { running: 0 }, start)
      }
    }
    const order = async (count: number) => {
      let users = ''
      for (let nth = 0; nth < count; nth++) {
        const claimed = await stores[1].claimVideoTask(pool, { running: 1 }, start, start)
        if (!claimed) throw new Error('no task is claimed')
        users += claimed.user === ann ? 'a' : 'b'
        await stores[0].failVideoTask(claimed, '{}', start)
      }
      return users
    }
    await add(ann, 20)
    expect(await order(10)).toBe('aaaaaaaaaa')
    await add(bob, 3)
    expect(await order(6)).toBe('bababa')
    expect(await order(5)).toBe('aaaaa')
    await add(bob, 3)
    expect(await order(3)).toBe('bab')
  })

  test('remembers the last turn of a user whose tasks have ended', async () => {
    const [pool, ann, bob] = [randomUUID(), randomUUID(), randomUUID()]
    const add = (user: string) => stores[0].addVideoTask(newTask(user, pool, start), { running: 0 }, start)
    const claim = async () => {
      const claimed = await stores[1].claimVideoTask(pool, { running: 1 }, start, start)
      if (!claimed) throw new Error('no task is claimed')
      await stores[0].failVideoTask(claimed, '{}', start)
      return claimed.user
    }
    await add(ann)
    expect(await claim()).toBe(ann)
    await add(ann)
    await add(bob)
    expect([await claim(), await claim()]).toEqual([bob, ann])
  })

  test('starts tasks in the ratio of weights', async () => {
    const pool = randomUUID()
    const users: readonly string[] = [randomUUID(), randomUUID(), randomUUID()]
    const weightOf = (user: string) => users.indexOf(user) + 1
    for (const user of users) {
      for (let nth = 0; nth < 12; nth++) {
        await stores[0].addVideoTask(newTask(user, pool, start), { running: 0 }, start)
      }
    }
    const counts = [0, 0, 0]
    for (let nth = 0; nth < 24; nth++) {
      const claimed = await stores[1].claimVideoTask(pool, { running: 1, weightOf }, start, start)
      if (!claimed) throw new Error('no task is claimed')
      const of = users.indexOf(claimed.user)
      counts[of] = (counts[of] ?? 0) + 1
      await stores[0].failVideoTask(claimed, '{}', start)
    }
    expect(counts).toEqual([4, 8, 12])
  })
})
