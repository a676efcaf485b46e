/** Runs with `--all`: hundreds of random sequences, which must detect every mutant. */
import { describe, expect, test } from 'bun:test'
import { mutants } from './mutants.ts'
import { runSequences } from './run.ts'

/** The seed is fixed, so that every run finds a mutant or no run does. */
const seed = 42
const maxSequences = 600

/**
 * How many sequences of the seed are skipped: the next one is the first that has shown the mutant. Default 0. If a change
 * of the steps hides the mutant in it, the search goes on with those that follow.
 */
const skipped: Readonly<Record<string, number>> = {
  'a creation ignores the GroupType of the group': 4,
  'the record of a deleted group remains': 5,
  'a name is unique over all users': 14,
  'a name is never unique': 14,
  'only the first of GroupIds is checked': 24,
  'DELETE is sent before the ownership check': 2,
  'PATCH does not check the group in the body': 2,
  'a duplicate GroupId in a body is ignored': 3,
  'a nested GroupId is ignored': 23,
  'a NextToken works for every user': 126,
  'a list with Name sends no GroupIds': 4,
  'the items of the upstream are not checked': 16,
  'Name is compared as the upstream compares it': 27,
  'a failed creation is retried': 14,
  'an id is decoded into a path': 2,
  'ownership is cached without expiry': 73,
}

describe('the isolation test detects the mutant', () => {
  test.each(Object.entries(mutants))(
    '%s',
    async (name, mutant) => {
      const search = { seed, sequences: maxSequences, skipped: skipped[name], shrink: false }
      const { violation } = await runSequences({ kind: 'rest', mutant, ...search })
      expect(violation).toBeDefined()
    },
    300_000,
  )
})
