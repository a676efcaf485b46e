/** Runs with `--all`: random sequences, which must detect every mutant. */
import { describe, expect, test } from 'bun:test'
import { openFixture } from './fixture.ts'
import { mutants } from './mutants.ts'
import { findViolation } from './run.ts'

/** The seed is fixed, so that every run finds a mutant or no run does. */
const seed = 42
const runs = 60

describe('the isolation test of video generation detects the mutant', () => {
  test.each(Object.entries(mutants))(
    '%s',
    async (_name, mutant) => {
      await using fixture = await openFixture('sqlite', { mutant })
      expect(await findViolation(fixture, { runs, seed, shrink: false })).toBeDefined()
    },
    300_000,
  )
})
