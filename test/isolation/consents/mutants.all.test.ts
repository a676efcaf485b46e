/** Runs with `--all`: hundreds of random sequences, which must detect every mutant. */
import { describe, expect, test } from 'bun:test'
import { runSequences } from '../run.ts'
import { mutants } from './mutants.ts'

/** The seed is fixed, so that every run finds a mutant or no run does. */
const seed = 2
const maxSequences = 1_200

/**
 * How many sequences of the seed are skipped: the next one is the first that has shown the mutant. Default 0. If a change
 * of the steps hides the mutant in it, the search goes on with those that follow.
 */
const skipped: Readonly<Record<string, number>> = {
  'a borrower has the consent of a lent group': 18,
  'the consent of a group that is gone is lost': 60,
  'a withdrawal ends no share': 245,
  'a group is lent after the withdrawal': 7,
  'assets are added after the withdrawal': 81,
  'the uses of all groups are shown': 5,
  'a link opens the consent of another person': 5,
  'who has made a link is not recorded': 21,
  'the act of a person counts as one of the owner': 21,
  'what a text request continues shows nobody': 81,
  'a text response forgets the persons before it': 245,
  'a group that was given back stays lent': 74,
  'who gives a group back ends it for all': 74,
}

describe('the isolation test of consents detects the mutant', () => {
  test.each(Object.entries(mutants))(
    '%s',
    async (name, mutant) => {
      const search = { seed, sequences: maxSequences, skipped: skipped[name], shrink: false, withdraws: true }
      const { violation } = await runSequences({ kind: 'rest', mutant, ...search })
      expect(violation).toBeDefined()
    },
    300_000,
  )
})
