/** Runs with `--all`: random sequences on both databases. isolation-in-small.test.ts runs a few. */
import { describe, expect, test } from 'bun:test'
import { databaseNames } from '../../support/database.ts'
import { openFixture } from './fixture.ts'
import { findViolation } from './run.ts'

/** A multiplier for 200 sequences. Without it the test runs few sequences with a fixed seed. */
const times = Number(process.env.SLUICE_RUNS ?? 0)
const runs = times === 0 ? 8 : 200 * times
const seed = times === 0 ? 20_261_123 : undefined

describe.each(databaseNames)('with one %s database and one video account', (database) => {
  test.each([
    ['without a queue', false],
    ['with a queue', true],
  ] as const)(
    '%s: three users create, read, list, cancel and delete only their own tasks in every random sequence',
    async (_name, slots) => {
      await using fixture = await openFixture(database, { slots })
      expect(await findViolation(fixture, { runs, seed })).toBeUndefined()
    },
    120_000 * Math.max(1, times),
  )

  test(
    'with a queue: no task is sent with an asset that is not lent any more, in every random sequence',
    async () => {
      await using fixture = await openFixture(database, { slots: true })
      expect(await findViolation(fixture, { runs, seed, lends: true })).toBeUndefined()
    },
    300_000 * Math.max(1, times),
  )

  test(
    'with a queue: no task is sent with an asset of a person who has withdrawn the consent, in every random sequence',
    async () => {
      await using fixture = await openFixture(database, { slots: true })
      expect(await findViolation(fixture, { runs, seed, withdraws: true })).toBeUndefined()
    },
    300_000 * Math.max(1, times),
  )
})
