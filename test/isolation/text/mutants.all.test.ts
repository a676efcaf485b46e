/** Runs with `--all`: hundreds of random sequences, which must detect every mutant. */
import { describe, expect, test } from 'bun:test'
import { openFixture } from './fixture.ts'
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
  'previous_response_id is not checked': 2,
  'a cursor of one list works for every list': 15,
  'an item_reference is not checked': 2,
  'a conversation is not checked': 2,
  'a conversation object is not checked': 2,
  'of duplicate keys the first is checked and the last is sent': 56,
  'another spelling of a key is ignored': 2,
  'a file_id is not checked': 4,
  'a response that the gateway keeps is retrieved by every user': 7,
  'a conversation that the gateway keeps is continued by every user': 48,
  'an item that the gateway keeps is used by every user': 75,
  'a response that the gateway keeps is deleted by every user': 87,
  'streamed responses are not recorded': 2,
  'background responses are not recorded': 2,
  'partial responses are not recorded': 4,
  'a streamed response is recorded at the end of the stream': 2,
  'the last recipient of an id owns it': 2,
  'a list of input items gives ownership of its items': 34,
  'an id of another user is returned': 2,
  'ownership never expires': 11,
  'the record of a deleted response remains': 5,
  'a process caches ownership without expiry': 11,
  'a foreign response has another error message than an unknown one': 3,
  'an id is decoded into a path': 23,
  'stored responses are cached for all users': 2,
}

describe('the isolation test of text generation detects the mutant', () => {
  test.each(Object.entries(mutants))(
    '%s',
    async (name, mutant) => {
      const open = () => openFixture('sqlite', mutant)
      const search = { seed, sequences: maxSequences, skipped: skipped[name], shrink: false }
      const { violation } = await runSequences({ open, ...search })
      expect(violation).toBeDefined()
    },
    300_000,
  )

  test('the same parts without a mutant show no violation', async () => {
    const unchanged = () =>
      openFixture('sqlite', () => ({
        around: (handle) => handle,
        fetch: (url, init, startRequest) => startRequest(url, init),
      }))
    expect(await runSequences({ open: unchanged, sequences: 40, seed, shrink: false })).toEqual({
      ...{ sequences: 40, violation: undefined },
    })
  }, 300_000)
})
