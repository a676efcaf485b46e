/** Runs with `--all`: hundreds of random sequences, which must detect every mutant. */
import { describe, expect, test } from 'bun:test'
import { openFixture } from './fixture.ts'
import { mutants } from './mutants.ts'
import { runSequences } from './run.ts'

/** The seed is fixed, so that every run finds a mutant or no run does. */
const seed = 42
const maxSequences = 600

describe('the isolation test of text generation detects the mutant', () => {
  test.each(Object.entries(mutants))(
    '%s',
    async (_name, mutant) => {
      const open = () => openFixture('sqlite', mutant)
      const { violation } = await runSequences({ open, sequences: maxSequences, seed, shrink: false })
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
  }, 120_000)
})
