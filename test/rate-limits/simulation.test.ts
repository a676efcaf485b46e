import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { rateLimitOf } from '../../plugins/upstream-proxy/rate-limit/store.ts'
import { maxArrivals, minShare, simulate, spread } from './simulated-processes.ts'

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
