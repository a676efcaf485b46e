/** Runs with `--all`: many random sequences on both databases. isolation-in-small.test.ts runs a few. */
import { describe, expect, test } from 'bun:test'
import { databaseNames } from '../../support/database.ts'
import { openFixture } from './fixture.ts'
import { openProcesses } from './processes.ts'
import { runSequences } from './run.ts'

/** A multiplier for 250 sequences. Without it the test runs few sequences with a fixed seed: then only a change of the code can make it fail. */
const runs = process.env.SLUICE_RUNS
const times = Number(runs ?? 0)
const seed = runs === undefined ? 20_261_122 : undefined
const timeoutMs = 300_000 * Math.max(1, times)

describe.each(databaseNames)('two gateways with one %s database and one text account', (database) => {
  const fixtures = {
    'in one process': {
      open: () => openFixture(database),
      few: database === 'sqlite' ? 60 : 20,
      many: 250 * times,
    },
    'in two processes': { open: () => openProcesses(database), few: 6, many: 10 * times },
  }

  test.each(Object.entries(fixtures))(
    '%s: three users read, continue, cancel and delete only their own objects in every random sequence of requests',
    async (_name, { open, few, many }) => {
      const sequences = many || few
      expect(await runSequences({ open, sequences, seed })).toEqual({ sequences, violation: undefined })
    },
    timeoutMs,
  )
})
