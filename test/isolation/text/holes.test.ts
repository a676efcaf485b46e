import { describe, expect, test } from 'bun:test'
import { openWorld } from './fixture.ts'
import { holes } from './holes.ts'
import { runSequences } from './run.ts'

/** Fixed, so that a hole is found in every run or in none. */
const seed = 42
const most = 600

describe('the isolation test of text finds the hole planted on purpose', () => {
  test.each(Object.entries(holes))(
    '%s',
    async (_name, hole) => {
      const open = () => openWorld('sqlite', hole)
      const { violation } = await runSequences({ open, sequences: most, seed, shrink: false })
      expect(violation).toBeDefined()
    },
    120_000,
  )

  test('and none where nothing is planted between the same parts', async () => {
    const nothing = () =>
      openWorld('sqlite', () => ({ around: (handle) => handle, fetch: (url, init, send) => send(url, init) }))
    expect(await runSequences({ open: nothing, sequences: 40, seed, shrink: false })).toEqual({
      ...{ sequences: 40, violation: undefined },
    })
  }, 120_000)
})
