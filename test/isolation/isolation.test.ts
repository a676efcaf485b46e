import { describe, expect, test } from 'bun:test'
import { runSequences } from './run.ts'

/** How many times 250 sequences. Unless it is set, they are the same ones every time: a run that fails is one that a change has made fail. */
const runs = process.env.SLUICE_RUNS
const times = Number(runs ?? 1)
const seed = runs === undefined ? 20_261_120 : undefined
const sequences = 250 * times
const patienceMs = 60_000 * times

describe.each(['rest', 'ark'] as const)('before an upstream of kind %s', (kind) => {
  test(
    'whatever three users do, each sees, changes and learns of nothing but their own',
    async () => {
      expect(await runSequences({ kind, sequences, seed })).toEqual({ sequences, violation: undefined })
    },
    patienceMs,
  )
})
