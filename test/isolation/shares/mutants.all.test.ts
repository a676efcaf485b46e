/** Runs with `--all`: hundreds of random sequences, which must detect every mutant. */
import { describe, expect, test } from 'bun:test'
import { runSequences } from '../run.ts'
import { mutants } from './mutants.ts'

/** The seed is fixed, so that every run finds a mutant or no run does. */
const seed = 42
const maxSequences = 600

/**
 * How many sequences of the seed are skipped: the next one is the first that has shown the mutant. Default 0. If a change
 * of the steps hides the mutant in it, the search goes on with those that follow.
 */
const skipped: Readonly<Record<string, number>> = {
  'what is lent to one user is lent to all': 2,
  'a revoked share remains': 2,
  'a share does not expire': 24,
  'what was lent once is cached for ever': 549,
  'a lent group counts as an own one': 2,
  'a list without a scope has lent groups': 3,
  'a borrower changes and deletes assets': 4,
  'a borrower lends on, and sees the shares': 55,
  'GroupIds of lent groups need no scope': 2,
  'scope=all has lent groups only': 2,
  'TotalCount counts the items of a page': 24,
  'a share of one group is revoked through another': 2,
  'a share outlives the disabling of its users': 484,
  'who leaves a team keeps what it borrows': 902,
  'a group is lent to the team of others': 14,
  'every share is for use': 2,
}

describe('the isolation test of shares detects the mutant', () => {
  test.each(Object.entries(mutants))(
    '%s',
    async (name, mutant) => {
      const search = { seed, sequences: maxSequences, skipped: skipped[name], shrink: false, lends: true }
      const { violation } = await runSequences({ kind: 'rest', mutant, ...search })
      expect(violation).toBeDefined()
    },
    300_000,
  )
})
