/** Runs with `--all`: random sequences, which must detect every mutant. */
import { describe, expect, test } from 'bun:test'
import { mutants } from './mutants.ts'
import { findViolation } from './run.ts'

/** The seed is fixed, so that every run finds a mutant or no run does. */
const seed = 42
const runs = 100

describe('the isolation test of slots detects the mutant', () => {
  test.each(Object.entries(mutants))(
    '%s',
    async (_name, mutant) => {
      expect(await findViolation({ runs, seed, mutant, shrink: false })).toBeDefined()
    },
    300_000,
  )
})
