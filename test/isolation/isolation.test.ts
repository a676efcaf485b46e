import { describe, expect, test } from 'bun:test'
import { runSequences } from './run.ts'

const times = Number(process.env.SLUICE_RUNS ?? 1)
const sequences = 250 * times
const patienceMs = 60_000 * times

describe.each(['rest', 'ark'] as const)('before an upstream of kind %s', (kind) => {
  test(
    'whatever three users do, each sees, changes and learns of nothing but their own',
    async () => {
      expect(await runSequences({ kind, sequences })).toEqual({ sequences, violation: undefined })
    },
    patienceMs,
  )
})
