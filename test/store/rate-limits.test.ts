import { beforeAll, expect, test } from 'bun:test'
import type { PermitRequest, RateLimitStore } from '../../plugins/upstream-proxy/index.ts'
import { testRateLimitStore } from '../rate-limits/store-tests.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('rate limit slots', (database) => {
  let both: readonly [RateLimitStore, RateLimitStore]
  beforeAll(async () => {
    both = [(await database.open()).rateLimits, (await database.open()).rateLimits]
  })

  testRateLimitStore(() => both)

  test('concurrent processes never take one slot twice, and never fail', async () => {
    const now = 1_700_000_000_000
    const wanted = (user: string): PermitRequest => ({
      ...{ action: 'Raced', count: 7, periodMs: 1_000, user, now },
      leaseUntil: now + 30_000,
    })
    const taken = await Promise.all(
      Array.from({ length: 60 }, (_, nth) => both[nth % 2]?.takeInTurn(wanted(`user ${nth % 9}`))),
    )
    const numbers = taken.flatMap((each) => (each && 'number' in each ? [each.number] : []))
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(numbers.length).toBeLessThanOrEqual(7)
  })

  test('concurrent processes take each slot once while no user waits', async () => {
    for (let round = 0; round < 15; round++) {
      const now = 1_700_000_000_000 + round * 100_000
      const wanted = (nth: number): PermitRequest => ({
        ...{ action: 'Free', count: 3, periodMs: 1_000, user: `user ${nth}`, now },
        leaseUntil: now + 30_000 + nth,
      })
      if (round === 0) await both[0].takeInTurn(wanted(0))
      else {
        const taken = await Promise.all(Array.from({ length: 20 }, (_, nth) => both[nth % 2]?.take(wanted(nth))))
        const numbers = taken.flatMap((each) => (each ? [each.number] : []))
        expect(new Set(numbers).size).toBe(numbers.length)
      }
    }
  })

  test('users who were served long ago are forgotten', async () => {
    const [places] = both
    const wanted = (now: number): PermitRequest => ({
      ...{ action: 'Forgetful', count: 1, periodMs: 1_000, user: 'ann', now },
      leaseUntil: now + 10,
    })
    const later = 1_800_000_000_000
    expect(await places.takeInTurn(wanted(later))).toMatchObject({ number: 0 })
    expect(await places.takeInTurn(wanted(later + 5))).toMatchObject({ servedAt: later })
    expect(await places.takeInTurn({ ...wanted(later + 200_000), user: 'bob' })).toMatchObject({ number: 0 })
    expect(await places.takeInTurn(wanted(later + 200_005))).toMatchObject({ servedAt: 0 })
  })
})
