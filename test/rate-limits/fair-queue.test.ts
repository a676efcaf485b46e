import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { FairQueue } from '../../plugins/upstream-proxy/rate-limit/fair-queue.ts'

interface Call {
  readonly user: string
  readonly nth: number
}

const calls = (...users: readonly string[]): readonly Call[] => users.map((user, nth) => ({ user, nth }))

const queued = (waiting: readonly Call[]): FairQueue<Call> => {
  const queue = new FairQueue<Call>(1_000)
  for (const call of waiting) queue.add(call)
  return queue
}

/** Serves all calls, one per millisecond. */
const serve = (queue: FairQueue<Call>, from = 1): readonly Call[] => {
  const served: Call[] = []
  for (let call = queue.next(); call; call = queue.next()) {
    queue.remove(call)
    queue.served(call.user, from + served.length)
    served.push(call)
  }
  return served
}

describe('the fair queue', () => {
  test('serves users round robin, and the calls of a user in their order', () => {
    const served = serve(queued(calls('a', 'a', 'a', 'b', 'c', 'b')))
    expect(served.map(({ user, nth }) => `${user}${nth}`)).toEqual(['a0', 'b3', 'c4', 'a1', 'b5', 'a2'])
  })

  test('serves a rare user before users who always wait', () => {
    const queue = queued(calls('a', 'b'))
    serve(queue)
    for (const call of calls('a', 'a', 'b', 'rare')) queue.add(call)
    expect(serve(queue, 10).map(({ user }) => user)).toEqual(['rare', 'a', 'b', 'a'])
  })

  test('treats a user who was served long ago as new', () => {
    const queue = queued(calls('a'))
    serve(queue)
    queue.served('b', 2_000)
    for (const call of calls('b', 'c', 'a')) queue.add(call)
    expect(serve(queue, 2_001).map(({ user }) => user)).toEqual(['c', 'a', 'b'])
  })

  test('counts calls that another process has served', () => {
    const queue = queued(calls('a', 'b'))
    queue.served('a', 5)
    queue.served('a', 3)
    expect(serve(queue, 6).map(({ user }) => user)).toEqual(['b', 'a'])
  })

  test('does not serve a removed call, and its user loses no position', () => {
    const waiting = calls('a', 'b', 'a')
    const queue = queued(waiting)
    const [first] = waiting
    if (!first) throw new Error('no call')
    expect([queue.has(first), queue.remove(first), queue.has(first), queue.remove(first)]).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect(queue.size).toBe(2)
    expect(serve(queue).map(({ nth }) => nth)).toEqual([2, 1])
  })

  test('never serves a user twice more than another user who waits all the time', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 60 }), (users) => {
        const served = serve(queued(calls(...users)))
        const counts = new Map<string, number>()
        served.forEach(({ user }, at) => {
          counts.set(user, (counts.get(user) ?? 0) + 1)
          for (const waiting of new Set(served.slice(at + 1).map((call) => call.user))) {
            expect((counts.get(user) ?? 0) - (counts.get(waiting) ?? 0)).toBeLessThanOrEqual(1)
          }
        })
      }),
    )
  })

  test('serves a shared call in order, but does not count it', () => {
    const queue = new FairQueue<Call & { readonly shared?: boolean }>(1_000)
    queue.add({ user: 'a', nth: 0 })
    const shared = { user: 'a', nth: 1, shared: true }
    queue.add(shared)
    expect([queue.ahead('a'), queue.ahead('b'), queue.size]).toEqual([1, 1, 2])
    queue.remove(shared)
    expect([queue.ahead('a'), queue.ahead('b'), queue.size]).toEqual([1, 1, 1])
  })

  test('knows exactly how many calls are served before a new call', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 }),
        fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 8 }),
        (users, before) => {
          const queue = new FairQueue<Call>(1_000)
          for (const [at, user] of before.entries()) queue.served(user, at + 1)
          for (const call of calls(...users)) queue.add(call)
          const expected = queue.ahead('a')
          queue.add({ user: 'a', nth: -1 })
          expect(serve(queue, 100).findIndex(({ nth }) => nth === -1)).toBe(expected)
        },
      ),
    )
  })
})
