import { describe, expect, test } from 'bun:test'
import { repetitions } from '../../support/repetitions.ts'
import { runSequences } from '../run.ts'

/** The seed is fixed: only a change of the code can make the test fail. */
const seed = 20_261_131
const sequences = 20

const kinds = repetitions<'rest' | 'ark'>('rest', 'ark')

describe.each(kinds)('with an upstream of kind %s', (kind) => {
  test('three users see and withdraw the consents of the persons in their own groups only, in a few random sequences', async () => {
    expect(await runSequences({ kind, sequences, seed, withdraws: true })).toEqual({ sequences, violation: undefined })
  }, 300_000)
})
