/** Runs with `--all`: three processes on PostgreSQL, which takes minutes. */
import { expect, test } from 'bun:test'
import { eachDatabase } from '../../support/database.ts'
import { findViolations } from './find-violations.ts'

eachDatabase('over several connections to one database', (database) => {
  test('no limit is exceeded and all of it can be used', async () => {
    const count = database.kind === 'postgres' ? 3 : 2
    const stores = await Promise.all(Array.from({ length: count }, () => database.open()))
    const limits = stores.map((store) => store.limits)
    expect(await findViolations(11, limits, 300)).toEqual([])
  }, 600_000)
})
