import { describe, expect, test } from 'bun:test'
import { type RatePoint, ratesWithin } from './rates.ts'

const bounds = [1, 5, 10, 50]
const search = { from: 200, to: 51_200, within: 1.2 }

/** A server with this capacity, in requests a second: the added time grows as the rate comes near it. */
const server = (capacity: number) => {
  const asked: number[] = []
  const measure = async (offered: number): Promise<RatePoint> => {
    asked.push(offered)
    const free = 1 - offered / capacity
    return { offered, answered: Math.min(offered, capacity), failed: 0, added: free > 0 ? 0.2 / free : 1_000 }
  }
  return { asked, measure }
}

/** The rate at which such a server reaches a bound. */
const limit = (capacity: number, bound: number): number => capacity * (1 - 0.2 / bound)

describe('the highest rate within a bound', () => {
  for (const capacity of [500, 1_100, 9_000, 30_000]) {
    test(`is found for ${capacity} requests a second, within a fifth`, async () => {
      const { asked, measure } = server(capacity)
      const found = await ratesWithin(bounds, search, measure)
      for (const [nth, bound] of bounds.entries()) {
        expect(found[nth]).toBeLessThanOrEqual(limit(capacity, bound))
        expect(found[nth]).toBeGreaterThan(limit(capacity, bound) / 1.2)
      }
      expect(asked.length).toBeLessThan(40)
    })
  }

  test('is 0 if the lowest rate breaks it', async () => {
    const slow = async (offered: number): Promise<RatePoint> => ({ offered, answered: offered, failed: 0, added: 7 })
    expect((await ratesWithin(bounds, { ...search, to: 200 }, slow)).slice(0, 2)).toEqual([0, 0])
  })

  test('does not count a rate with a failed request, or one that was not answered in time', async () => {
    for (const { failed, part } of [
      { failed: 1, part: 1 },
      { failed: 0, part: 0.94 },
    ]) {
      const measure = async (offered: number): Promise<RatePoint> =>
        offered < 1_000
          ? { offered, answered: offered, failed: 0, added: 0.1 }
          : { offered, answered: part * offered, failed, added: 0.1 }
      const found = await ratesWithin(bounds, search, measure)
      for (const rate of found) {
        expect(rate).toBeLessThan(1_000)
        expect(rate).toBeGreaterThan(1_000 / 1.2)
      }
    }
  })

  test('is not lowered by one bad measurement', async () => {
    const { measure } = server(9_000)
    const hit = new Set<number>()
    const disturbed = async (offered: number): Promise<RatePoint> => {
      const point = await measure(offered)
      if (hit.has(offered)) return point
      hit.add(offered)
      return { ...point, added: point.added + 100 }
    }
    expect(await ratesWithin(bounds, search, disturbed)).toEqual(await ratesWithin(bounds, search, measure))
  })
})
