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
  'a list ignores GroupType': 4,
  'a creation ignores the GroupType of the group': 3,
  'a batch is shown to every user': 25,
  'the batches of all users are listed': 22,
  'the record of a deleted group remains': 2,
  'a name is unique over all users': 133,
  'a name is never unique': 45,
  'only the first of GroupIds is checked': 2,
  'PATCH is not checked': 11,
  'PATCH does not check the group in the body': 3,
  'another spelling of GroupId is ignored': 3,
  'a nested GroupId is ignored': 3,
  'a NextToken works for every user': 44,
  'a list with Name sends no GroupIds': 12,
  'the items of the upstream are not checked': 11,
  'Name is compared as the upstream compares it': 41,
  'a failed creation is retried': 3,
  'an id is decoded into a path': 3,
  'ownership is cached without expiry': 131,
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
