/** Runs with `--all`: random sequences, which must detect every mutant. */
import { describe, expect, test } from 'bun:test'
import { openFixture } from './fixture.ts'
import { lendMutants } from './lend-mutants.ts'
import { mutants } from './mutants.ts'
import { findViolation } from './run.ts'

/** The seed is fixed, so that every run finds a mutant or no run does. */
const seed = 42
const runs = 60

/**
 * How many sequences of the seed are skipped: the next one is the first that has shown the mutant. Default 0. If a change
 * of the steps hides the mutant in it, the search goes on with those that follow.
 */
const skipped: Readonly<Record<string, number>> = {
  'a task is shown to every user': 6,
  'an ended task is deleted by every user': 15,
  'the asset of a picture serves all users': 2,
  'an asset is not checked': 3,
  'a lost answer makes a task twice': 7,
  'a draft of every user is accepted': 13,
}

describe('the isolation test of video generation detects the mutant', () => {
  test.each(Object.entries(mutants))(
    '%s',
    async (name, mutant) => {
      await using fixture = await openFixture('sqlite', { mutant })
      expect(await findViolation(fixture, { runs, seed, skipped: skipped[name], shrink: false })).toBeDefined()
    },
    300_000,
  )
})

describe('the isolation test of lent assets detects the mutant', () => {
  test.each(Object.entries(lendMutants))(
    '%s',
    async (_, mutant) => {
      await using fixture = await openFixture('sqlite', { mutant, slots: true })
      expect(await findViolation(fixture, { runs, seed, shrink: false, lends: true })).toBeDefined()
    },
    300_000,
  )
})
