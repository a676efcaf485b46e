import { describe, expect, test } from 'bun:test'
import { repetitions } from '../support/repetitions.ts'
import { runSequences } from './run.ts'

/** The seed is fixed: only a change of the code can make the test fail. */
const seed = 20_261_121
const sequences = 25

const kinds = repetitions<'rest' | 'ark'>('rest', 'ark')

describe.each(kinds)('with an upstream of kind %s', (kind) => {
  test('three users see and change only their own groups and assets in a few random sequences of requests', async () => {
    expect(await runSequences({ kind, sequences, seed })).toEqual({ sequences, violation: undefined })
  }, 300_000)
})
