import { describe, expect, test } from 'bun:test'
import { repeatedDatabases } from '../../support/database.ts'
import { openFixture } from './fixture.ts'
import { findViolation } from './run.ts'

/** The seed is fixed: only a change of the code can make the test fail. */
const seed = 20_261_125
const runs = 2

describe.each(repeatedDatabases)('with one %s database and one video account, with a queue', (database) => {
  test('three users create, read, list, cancel and delete only their own tasks in a few random sequences', async () => {
    await using fixture = await openFixture(database, { slots: true })
    expect(await findViolation(fixture, { runs, seed })).toBeUndefined()
  }, 300_000)

  test('no task is sent with an asset that is not lent any more, in a few random sequences', async () => {
    await using fixture = await openFixture(database, { slots: true })
    expect(await findViolation(fixture, { runs, seed, lends: true })).toBeUndefined()
  }, 300_000)

  test('no task is sent with an asset of a person who has withdrawn the consent, in a few random sequences', async () => {
    await using fixture = await openFixture(database, { slots: true })
    expect(await findViolation(fixture, { runs, seed, withdraws: true })).toBeUndefined()
  }, 300_000)
})
