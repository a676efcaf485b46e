/** Runs with `--all`: 100 random sequences for each kind of upstream. isolation-in-small.test.ts runs a few. */
import { describe, expect, test } from 'bun:test'
import { runSequences } from '../run.ts'

/** A multiplier for 250 sequences. Without it the test runs fewer with a fixed seed: then only a change of the code can make it fail. */
const runs = process.env.SLUICE_RUNS
const times = Number(runs ?? 1)
const seed = runs === undefined ? 20_261_132 : undefined
const sequences = runs === undefined ? 100 : 250 * times

describe.each(['rest', 'ark'] as const)('with an upstream of kind %s', (kind) => {
  test(
    'three users see and withdraw the consents of the persons in their own groups only, in every random sequence',
    async () => {
      expect(await runSequences({ kind, sequences, seed, withdraws: true })).toEqual({
        sequences,
        violation: undefined,
      })
    },
    300_000 * times,
  )
})
