/** Runs with `--all`: hundreds of random sequences, which must detect every mutant. */
import { describe, expect, test } from 'bun:test'
import { mutants } from './mutants.ts'
import { runSequences } from './run.ts'

/** The seed is fixed, so that every run finds a mutant or no run does. */
const seed = 42
const maxSequences = 600

describe('the isolation test detects the mutant', () => {
  test.each(Object.entries(mutants))(
    '%s',
    async (_name, mutant) => {
      const { violation } = await runSequences({ kind: 'rest', sequences: maxSequences, seed, mutant, shrink: false })
      expect(violation).toBeDefined()
    },
    300_000,
  )
})
