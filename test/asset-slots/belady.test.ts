import { expect, test } from 'bun:test'
import { repeatOnDatabases } from '../support/database.ts'
import { repetitions } from '../support/repetitions.ts'
import { openTracedLibrary, type TraceSize, traces } from './traces.ts'

const size: TraceSize = { slots: 10, assets: 60, inUse: 40, tasks: 100, waiting: 20 }

repeatOnDatabases('tasks that wait tell what is needed next, so few assets are created again', ({ kind }) => {
  for (const [name, trace] of repetitions(...Object.entries(traces))) {
    test(name, async () => {
      await using library = await openTracedLibrary(kind, size)
      const { creates, optimum } = await library.follow(trace(size))
      expect(creates).toBeGreaterThan(0)
      expect(creates / optimum).toBeLessThanOrEqual(1.3)
    }, 120_000)
  }
})
