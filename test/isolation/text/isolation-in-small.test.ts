import { describe, expect, test } from 'bun:test'
import { repeatedDatabases } from '../../support/database.ts'
import { openFixture } from './fixture.ts'
import { runSequences } from './run.ts'

/** The seed is fixed: only a change of the code can make the test fail. */
const seed = 20_261_124
const sequences = 10

describe.each(repeatedDatabases)(
  'two gateways with one %s database and one text account, in one process',
  (database) => {
    test('three users read, continue, cancel and delete only their own objects in a few random sequences', async () => {
      const open = () => openFixture(database)
      expect(await runSequences({ open, sequences, seed })).toEqual({ sequences, violation: undefined })
    }, 300_000)
  },
)
