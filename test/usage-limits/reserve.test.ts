import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { type Limit, LimitProblem, type UsageLimits } from 'sluice/usage-limits'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'
import { processOn, StoreClock } from './fixture.ts'

eachDatabase('a reservation', (database) => {
  let stores: readonly Store[]
  beforeAll(async () => {
    stores = [await database.open(), await database.open()]
  })

  const start = (
    userLimits: readonly Limit[],
    nth = 0,
    clock = new StoreClock(),
  ): { limits: UsageLimits; clock: StoreClock; user: string } => {
    const store = stores[nth]
    if (!store) throw new Error('no store')
    return { limits: processOn(store.limits, clock, { userLimits }), clock, user: randomUUID() }
  }

  test('is none for a user without limits', async () => {
    const { limits, user } = start([])
    expect(await limits.reserve({ user, uses: { requests: 1 } })).toBeUndefined()
  })

  test('is settled with what was used, and the rest is there for others', async () => {
    const { limits, clock, user } = start([{ unit: 'tokens', amount: 1_000, window: 'day' }])
    const first = await limits.reserve({ user, uses: { tokens: 600 } })
    const [own] = await limits.report({ user })
    expect(own).toMatchObject({ used: 0, reserved: 600, remaining: 400, resets_at: '2026-03-02T00:00:00.000Z' })
    first?.settle({ tokens: 100 })
    expect(await limits.report({ user })).toMatchObject([{ used: 100, reserved: 0, remaining: 900 }])
    const second = await limits.reserve({ user, uses: { tokens: 900 } })
    second?.settle({ tokens: 900 })
    await clock.pass(1_000)
    const refused = limits.reserve({ user, uses: { tokens: 1 } })
    await expect(refused).rejects.toThrow(LimitProblem)
  })
})
