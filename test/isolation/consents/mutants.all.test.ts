/** Runs with `--all`: hundreds of random sequences, which must detect every mutant. */
import { describe, expect, test } from 'bun:test'
import { runSequences } from '../run.ts'
import { mutants } from './mutants.ts'

/** The seed is fixed, so that every run finds a mutant or no run does. */
const seed = 2
const maxSequences = 1_200

describe('the isolation test of consents detects the mutant', () => {
  test.each(Object.entries(mutants))(
    '%s',
    async (_, mutant) => {
      const search = { seed, sequences: maxSequences, shrink: false, withdraws: true }
      const { violation } = await runSequences({ kind: 'rest', mutant, ...search })
      expect(violation).toBeDefined()
    },
    300_000,
  )
})
