import { describe, expect, test } from 'bun:test'
import {
  isPermit,
  type PermitRequest,
  type RateLimitPermit,
  type RateLimitStore,
  rateLimitOf,
  reservationMs,
} from '../../plugins/upstream-proxy/rate-limit/store.ts'
import { minShare, simulate, spread } from './simulated-processes.ts'

const period = 1_000
const lease = 30_000
let actions = 0

/** The tests of every rate limit store. Each test uses its own action. */
export const testRateLimitStore = (open: () => readonly [RateLimitStore, ...RateLimitStore[]]): void => {
  const on = (count: number) => {
    const action = `Action${++actions}`
    const [one, other = one] = open()
    const wanted = (now: number, user = 'ann'): PermitRequest => ({
      ...{ action, count, periodMs: period, user, now },
      leaseUntil: now + lease,
    })
    const takePermit = async (now: number, user?: string, store: RateLimitStore = one): Promise<RateLimitPermit> => {
      const taken = await store.takeInTurn(wanted(now, user))
      if (!isPermit(taken)) throw new Error(`no permit at ${now}`)
      return taken
    }
    return { action, one, other, wanted, takePermit }
  }
  const start = 1_700_000_000_000

  describe('a permit', () => {
    test('is taken at most as often as there are permits', async () => {
      const { one, other, wanted, takePermit } = on(3)
      const taken = [await takePermit(start), await takePermit(start + 1), await takePermit(start + 2, 'ann', other)]
      expect(taken.map(({ number }) => number).sort()).toEqual([0, 1, 2])
      expect(await other.take(wanted(start + 3))).toBe(undefined)
      expect(await one.takeInTurn(wanted(start + 3))).toMatchObject({ nextAt: start + 3 + period })
    })

    test('that was returned becomes free at the given time', async () => {
      const { one, other, wanted, takePermit } = on(1)
      await one.release(await takePermit(start), start + 1_100)
      expect(await other.takeInTurn(wanted(start + 1_099))).toEqual({ nextAt: start + 1_100, servedAt: start })
      expect(await other.takeInTurn(wanted(start + 1_100))).toMatchObject({ number: 0 })
    })

    test('of a dead process becomes free when its lease ends', async () => {
      const { other, wanted, takePermit } = on(1)
      await takePermit(start)
      expect(await other.takeInTurn(wanted(start + lease - 1))).toMatchObject({ nextAt: start + lease })
      expect(await other.takeInTurn(wanted(start + lease))).toMatchObject({ number: 0 })
    })

    test('cannot be returned after its lease has ended', async () => {
      const { one, other, wanted, takePermit } = on(1)
      const late = await takePermit(start)
      await takePermit(start + lease, 'ann', other)
      await one.release(late, start + lease + 1)
      expect(await one.takeInTurn(wanted(start + lease + 2))).not.toHaveProperty('number')
    })

    test('is taken by only one of many concurrent calls', async () => {
      const { one, other, wanted, takePermit } = on(4)
      for (const taken of [await takePermit(start), await takePermit(start)]) await one.release(taken, start)
      const all = await Promise.all(
        Array.from({ length: 20 }, (_, nth) => (nth % 2 ? one : other).take(wanted(start + 1))),
      )
      const numbers = all.flatMap((taken) => (taken ? [taken.number] : []))
      expect(new Set(numbers).size).toBe(numbers.length)
      expect(numbers.length).toBeLessThanOrEqual(4)
      expect(numbers.length).toBeGreaterThan(0)
    })

    test('belongs to one action', async () => {
      const first = on(1)
      await first.takePermit(start)
      expect(await on(1).takePermit(start)).toMatchObject({ number: 0 })
    })
  })

  describe('while users wait', () => {
    test('a call cannot overtake them', async () => {
      const { one, other, wanted, takePermit } = on(1)
      const held = await takePermit(start, 'ann')
      await other.takeInTurn(wanted(start + 1, 'bob'))
      await one.release(held, start + 10)
      expect(await one.take(wanted(start + 10, 'ann'))).toBe(undefined)
      expect(await other.takeInTurn(wanted(start + 10, 'bob'))).toMatchObject({ number: 0 })
    })

    test('a free permit is for the user who was served least recently, in any process', async () => {
      const { one, other, wanted, takePermit } = on(1)
      await one.release(await takePermit(start, 'ann'), start + 10)
      await one.release(await takePermit(start + 10, 'bob'), start + 20)
      const held = await takePermit(start + 20, 'cyd')
      await one.takeInTurn(wanted(start + 21, 'ann'))
      await one.release(held, start + 100)
      expect(await one.take(wanted(start + 100, 'bob'))).toBe(undefined)
      expect(await other.takeInTurn(wanted(start + 100, 'bob'))).toEqual({
        nextAt: start + 100 + reservationMs,
        servedAt: start + 10,
      })
      expect(await one.takeInTurn(wanted(start + 101, 'ann'))).toMatchObject({ number: 0 })
    })

    test('a permit that its user does not take becomes free for all after `reservationMs`', async () => {
      const { one, other, wanted, takePermit } = on(1)
      await one.release(await takePermit(start, 'ann'), start + 10)
      const held = await takePermit(start + 10, 'bob')
      await one.takeInTurn(wanted(start + 11, 'ann'))
      await one.release(held, start + 100)
      expect(await other.takeInTurn(wanted(start + 99 + reservationMs, 'bob'))).not.toHaveProperty('number')
      expect(await other.takeInTurn(wanted(start + 100 + reservationMs, 'bob'))).toMatchObject({ number: 0 })
    })

    test('a user who no longer asks is forgotten', async () => {
      const { one, other, wanted, takePermit } = on(1)
      const held = await takePermit(start, 'ann')
      await one.takeInTurn(wanted(start + 1, 'bob'))
      await one.release(held, start + 3 * period)
      expect(await other.take(wanted(start + 3 * period, 'ann'))).toMatchObject({ number: 0 })
    })

    test('permits that were taken together become free one by one', async () => {
      const { one, wanted, takePermit } = on(3)
      const taken = [await takePermit(start), await takePermit(start), await takePermit(start)]
      for (const each of taken) await one.release(each, start + period, 100)
      const soon = wanted(start + period)
      expect(await one.takeInTurn(soon)).toMatchObject({ number: expect.any(Number) })
      expect(await one.takeInTurn(soon)).toMatchObject({ nextAt: start + period + 100 })
      expect(await one.takeInTurn(wanted(start + period + 100))).toMatchObject({ number: expect.any(Number) })
      expect(await one.takeInTurn(wanted(start + period + 100))).toMatchObject({ nextAt: start + period + 200 })
    })
  })

  describe('a slowed-down action', () => {
    test('has no free permit before the given time, not even a returned one', async () => {
      const { action, one, other, wanted, takePermit } = on(2)
      const held = await takePermit(start)
      await one.delayUntil(action, start + 5_000, 50)
      await one.release(held, start + 1_000)
      expect(await other.take(wanted(start + 4_999))).toBe(undefined)
      expect(await other.takeInTurn(wanted(start + 4_999))).toMatchObject({ nextAt: start + 5_000 })
      expect(await other.takeInTurn(wanted(start + 5_000))).toMatchObject({ number: 0 })
      expect(await other.takeInTurn(wanted(start + 5_000))).toMatchObject({ nextAt: start + 5_050 })
    })

    test('ignores a later, shorter time', async () => {
      const { action, one, wanted, takePermit } = on(1)
      await one.release(await takePermit(start), start)
      await one.delayUntil(action, start + 5_000, 50)
      await one.delayUntil(action, start + 1_000, 50)
      expect(await one.takeInTurn(wanted(start + 1_000))).toMatchObject({ nextAt: start + 5_000 })
    })

    test('stays slow when its rate limit is raised', async () => {
      const { action, one, wanted, takePermit } = on(1)
      await one.release(await takePermit(start), start)
      await one.delayUntil(action, start + 5_000, 50)
      expect(await one.takeInTurn({ ...wanted(start + 1_000), count: 3 })).toMatchObject({ nextAt: start + 5_000 })
    })
  })

  describe('a clock that was ahead', () => {
    for (const [ahead, count] of [
      ['two hours', 1],
      ['ten years', 3],
    ] as const) {
      test(`by ${ahead} does not block ${count} permits until that time`, async () => {
        const { one, other, wanted, takePermit } = on(count)
        const wrong = start + (ahead === 'two hours' ? 2 * 3_600_000 : 315_360_000_000)
        for (let nth = 0; nth < count; nth++) {
          const permit = await takePermit(wrong + nth)
          await one.release(permit, wrong + nth + period, 50)
        }
        for (let nth = 0; nth < count; nth++) {
          expect(isPermit(await other.takeInTurn(wanted(start + nth, 'bob')))).toBe(true)
        }
        expect(isPermit(await other.takeInTurn(wanted(start + count, 'bob')))).toBe(false)
      })
    }

    test('by less than the longest wait blocks them: that may be the wish of the upstream', async () => {
      const { action, one, wanted, takePermit } = on(1)
      await one.release(await takePermit(start), start)
      await one.delayUntil(action, start + 3_600_000, 50)
      expect(await one.takeInTurn(wanted(start + 1))).toMatchObject({ nextAt: start + 3_600_000 })
    })
  })

  test('15 users of one process and 5 of another one have equal shares', async () => {
    const [one, other = one] = open()
    const latency = () => [5, 15] as const
    const load = { perSecond: 10, users: spread(15, 5), atOnce: 3, latency, seconds: 20, stores: [one, other] } as const
    const arrivals = await simulate(load)
    expect(arrivals.length).toBeGreaterThan(0.9 * 20 * 10)
    // Ten calls each, and one less for whoever is served last. If each process had half of the limit, 15 users would have two thirds of an equal share.
    expect(minShare(arrivals, 20)).toBeGreaterThanOrEqual(0.9)
  }, 60_000)

  describe('a rate limit', () => {
    test('that changes, changes the number of permits', async () => {
      const { one, wanted } = on(1)
      const taken = async (count: number, now: number) => {
        const numbers: number[] = []
        for (;;) {
          const each = await one.takeInTurn({ ...wanted(now), count })
          if (!isPermit(each)) return numbers.length
          numbers.push(each.number)
        }
      }
      expect(await taken(1, start)).toBe(1)
      expect(await taken(5, start + 1)).toBe(4)
      expect(await taken(2, start + 2 * lease)).toBe(2)
    })

    test.each([
      [10, 10, 1_000],
      [2.5, 2, 800],
      [1, 1, 1_000],
      [0.05, 1, 20_000],
    ])('of %p per second is %p permits of %p ms', (perSecond, count, periodMs) => {
      expect(rateLimitOf('A', perSecond)).toEqual({ action: 'A', count, periodMs })
    })

    test('must be a finite number above 0', () => {
      for (const perSecond of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
        expect(() => rateLimitOf('A', perSecond)).toThrow(TypeError)
      }
    })
  })
}
