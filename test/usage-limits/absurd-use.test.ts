import { expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { type Limit, LimitProblem, type UsageLimits } from 'sluice/usage-limits'
import { repeatOnDatabases } from '../support/database.ts'
import { processOn, StoreClock } from './fixture.ts'

const userLimits: readonly Limit[] = [
  { unit: 'tokens', amount: 1_000, window: 'day' },
  { unit: 'cost', amount: 1_000, window: 'hour' },
]

/** A call, unless a limit is reached. */
const callOf = async (limits: UsageLimits, user: string, amount: number): Promise<void> => {
  try {
    const reservation = await limits.reserve({ user, uses: { tokens: 10, cost: 10 } })
    reservation?.settle({ tokens: amount, cost: amount })
    reservation?.release()
  } catch (error) {
    if (!(error instanceof LimitProblem)) throw error
  }
}

repeatOnDatabases('a use that no upstream can mean', (database) => {
  test.each([2 ** 53, 2 ** 63, 1e30, Number.POSITIVE_INFINITY, Number.NaN, -1, 0.5])(
    'is written like any other, and keeps the limits of no other user from being written (%d)',
    async (absurd) => {
      const store = await database.open()
      const clock = new StoreClock()
      const limits = processOn(store.limits, clock, { userLimits })
      const [ann, bob] = [randomUUID(), randomUUID()]
      for (let call = 0; call < 3; call++) {
        await callOf(limits, ann, absurd)
      }
      await callOf(limits, bob, 7)
      await clock.pass(2_000)
      // As another process sees it, which has only what was written.
      const written = await processOn(store.limits, clock, { userLimits }).report({ user: bob })
      expect(written.map(({ unit, used }) => `${unit} ${used}`)).toContain('tokens 7')
    },
  )
})
