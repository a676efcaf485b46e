/** Runs with `--all`: 60 random sequences. isolation-in-small.test.ts runs a few. */
import { expect, test } from 'bun:test'
import { findViolation } from './run.ts'

/** A multiplier for 200 sequences. Without it the test runs fewer with a fixed seed. */
const times = Number(process.env.SLUICE_RUNS ?? 0)
const runs = times === 0 ? 60 : 200 * times
const seed = times === 0 ? 20_261_129 : undefined

test(
  'with more assets than slots, three users see, change and use only their own, in every random sequence',
  async () => {
    expect(await findViolation({ runs, seed })).toBeUndefined()
  },
  300_000 * Math.max(1, times),
)
