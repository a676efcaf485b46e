import { describe, expect, test } from 'bun:test'
import { holes } from './holes.ts'
import { runSequences } from './run.ts'

/** Fixed, so that a hole is found in every run or in none. */
const seed = 42
const most = 600

describe('the isolation test finds the hole planted on purpose', () => {
  test.each(Object.entries(holes))(
    '%s',
    async (_name, hole) => {
      const { violation } = await runSequences({ kind: 'rest', sequences: most, seed, hole, shrink: false })
      expect(violation).toBeDefined()
    },
    60_000,
  )
})
