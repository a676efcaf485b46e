import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { noLog } from '../../plugins/shared/problem.ts'
import { RateLimiter } from '../../plugins/upstream-proxy/rate-limit/limiter.ts'
import { memoryRateLimitStore } from '../../plugins/upstream-proxy/rate-limit/memory-store.ts'
import { rateLimitOf } from '../../plugins/upstream-proxy/rate-limit/store.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

interface Arrival {
  readonly user: string
  readonly at: number
}

interface Scenario {
  readonly perSecond: number
  /** For each user the processes that he calls: `[0]`, `[1]`, or both. */
  readonly users: readonly (readonly number[])[]
  /** Concurrent calls of each user to each of his processes. */
  readonly atOnce: number
  /** Milliseconds of a request and of its response on the network. */
  readonly latency: () => readonly [number, number]
  readonly seconds: number
}

/** Two processes with one rate limit store, in virtual time. Resolves with the calls that arrive upstream. */
const simulate = async ({ perSecond, users, atOnce, latency, seconds }: Scenario): Promise<readonly Arrival[]> => {
  const clock = new VirtualClock()
  const store = memoryRateLimitStore()
  const rate = rateLimitOf('A', perSecond)
  const limiters = [0, 1].map(() => new RateLimiter({ rate, store, queueMs: 5_000, callMs: 30_000, clock, log: noLog }))
  const arrivals: Arrival[] = []
  const end = clock.now() + seconds * 1000

  const ask = async (user: string, limiter: RateLimiter) => {
    while (clock.now() < end) {
      const permit = await limiter.acquire(user).catch(() => undefined)
      if (!permit) {
        await clock.sleep(300)
        continue
      }
      const [there, back] = latency()
      await clock.sleep(there)
      arrivals.push({ user, at: clock.now() })
      await clock.sleep(back)
      limiter.release(permit, true)
    }
  }
  for (const [nth, processes] of users.entries()) {
    for (const process of processes) {
      const limiter = limiters[process]
      for (let call = 0; limiter && call < atOnce; call++) void ask(`user ${nth}`, limiter)
    }
  }
  await clock.pass(seconds * 1000 + 10_000)
  return arrivals
}

/** The largest number of arrivals in any half-open interval of `ms` milliseconds. */
const maxArrivals = (arrivals: readonly Arrival[], ms: number): number => {
  const times = arrivals.map(({ at }) => at).sort((a, b) => a - b)
  return Math.max(0, ...times.map((from, at) => times.slice(at).filter((time) => time < from + ms).length))
}

/** The smallest number of arrivals of a user, relative to an equal share. */
const minShare = (arrivals: readonly Arrival[], users: number): number => {
  const counts = new Map<string, number>()
  for (const { user } of arrivals) counts.set(user, (counts.get(user) ?? 0) + 1)
  return counts.size < users ? 0 : (Math.min(...counts.values()) * users) / arrivals.length
}

const spread = (first: number, second: number, both = 0) => [
  ...Array.from({ length: first }, () => [0]),
  ...Array.from({ length: second }, () => [1]),
  ...Array.from({ length: both }, () => [0, 1]),
]

describe('two processes', () => {
  test('never exceed the rate limit in any interval, with any latency', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          perSecond: fc.constantFrom(0.5, 1, 2.5, 4, 10),
          atOnce: fc.integer({ min: 1, max: 4 }),
          delays: fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 2, maxLength: 9 }),
        }),
        async ({ perSecond, atOnce, delays }) => {
          let nth = 0
          const latency = () => [delays[nth++ % delays.length] ?? 0, delays[nth++ % delays.length] ?? 0] as const
          const arrivals = await simulate({ perSecond, users: spread(3, 2, 1), atOnce, latency, seconds: 8 })
          const { count, periodMs } = rateLimitOf('A', perSecond)
          expect(arrivals.length).toBeGreaterThan(0)
          expect(maxArrivals(arrivals, periodMs)).toBeLessThanOrEqual(count)
        },
      ),
      { numRuns: 25 },
    )
  })

  test('never exceed it with a latency of zero', async () => {
    const arrivals = await simulate({
      perSecond: 10,
      users: spread(3, 3),
      atOnce: 3,
      latency: () => [0, 0],
      seconds: 20,
    })
    expect(maxArrivals(arrivals, 1_000)).toBe(10)
  })

  test.each([
    ['ten in each process', spread(10, 10)],
    ['15 in one, 5 in the other', spread(15, 5)],
    ['19 in one, one in the other', spread(19, 1)],
    ['12 in one, and 8 in both', spread(12, 0, 8)],
  ])('give each of 20 users an equal share, with %s', async (_, users) => {
    const latency = () => [5, 15] as const
    const arrivals = await simulate({ perSecond: 10, users, atOnce: 3, latency, seconds: 60 })
    expect(minShare(arrivals, 20)).toBeGreaterThan(0.95)
    expect(arrivals.length).toBeGreaterThan(0.95 * 60 * 10)
  })

  test('waste no permit when the upstream is sometimes slow', async () => {
    let nth = 0
    const latency = () => [5, nth++ % 2 ? 145 : 5] as const
    const arrivals = await simulate({ perSecond: 10, users: spread(15, 5), atOnce: 3, latency, seconds: 60 })
    // A call takes 80 ms on average and occupies its permit for 1,090 ms.
    expect(arrivals.length).toBeGreaterThan(0.94 * 60 * (10 / 1.09))
    expect(minShare(arrivals, 20)).toBeGreaterThan(0.9)
  })
})
