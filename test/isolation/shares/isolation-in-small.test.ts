import { describe, expect, test } from 'bun:test'
import { repetitions } from '../../support/repetitions.ts'
import { runSequences } from '../run.ts'

/** The seed is fixed: only a change of the code can make the test fail. */
const seed = 20_261_126
const sequences = 25

const kinds = repetitions<'rest' | 'ark'>('ark', 'rest')

describe.each(kinds)('with an upstream of kind %s', (kind) => {
  test('three users see own and lent groups and assets, and change only their own, in a few random sequences', async () => {
    expect(await runSequences({ kind, sequences, seed, lends: true })).toEqual({ sequences, violation: undefined })
  }, 300_000)
})
