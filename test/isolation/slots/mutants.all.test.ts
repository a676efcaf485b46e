/** Runs with `--all`: random sequences, which must detect every mutant. */
import { describe, expect, test } from 'bun:test'
import { mutants } from './mutants.ts'
import { findViolation } from './run.ts'

/** The seed is fixed, so that every run finds a mutant or no run does. */
const seed = 42
const runs = 100

/**
 * How many sequences of the seed are skipped: the next one is the first that has shown the mutant. Default 0. If a change
 * of the steps hides the mutant in it, the search goes on with those that follow.
 */
const skipped: Readonly<Record<string, number>> = {
  'the id of the upstream is an id here': 4,
  'the own id of another user is accepted': 2,
  'what a request uses loses its slot': 2,
  'a request gets the asset of another one': 9,
  'a request does not end': 9,
  'an asset has its first name again when it is created again': 5,
  'a list by name finds the name of before': 37,
  'the slots of all accounts are counted together': 20,
}

describe('the isolation test of slots detects the mutant', () => {
  test.each(Object.entries(mutants))(
    '%s',
    async (name, mutant) => {
      expect(await findViolation({ runs, seed, mutant, skipped: skipped[name], shrink: false })).toBeDefined()
    },
    300_000,
  )
})
