import { describe, expect, test } from 'bun:test'
import { openWorld } from './fixture.ts'
import { openProcesses } from './processes.ts'
import { runSequences } from './run.ts'

/** How many times 250 sequences. Unless it is set, they are the same few every time: a run that fails is one that a change has made fail. */
const runs = process.env.SLUICE_RUNS
const times = Number(runs ?? 0)
const seed = runs === undefined ? 20_261_122 : undefined
const patienceMs = 120_000 * Math.max(1, times)

describe.each(['sqlite', 'postgres'] as const)(
  'two gateways on one database, %s, before one text account',
  (database) => {
    const worlds = {
      'in this process': { open: () => openWorld(database), few: database === 'sqlite' ? 150 : 50, many: 250 * times },
      'processes of their own': { open: () => openProcesses(database), few: 6, many: 10 * times },
    }

    test.each(Object.entries(worlds))(
      '%s: whatever three users do, each continues, sees, ends and learns of nothing but their own',
      async (_name, { open, few, many }) => {
        const sequences = many || few
        expect(await runSequences({ open, sequences, seed })).toEqual({ sequences, violation: undefined })
      },
      patienceMs,
    )
  },
)
