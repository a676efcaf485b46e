/** Runs with `--all`: first creates the 1,000 assets of the library, of which each trace uses others. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openTracedLibrary, type TracedLibrary, type TraceSize, traces } from './traces.ts'

const size: TraceSize = { slots: 50, assets: 1_000, inUse: 200, tasks: 400, waiting: 100 }

let library: TracedLibrary
beforeAll(async () => {
  library = await openTracedLibrary('sqlite', size)
}, 600_000)
afterAll(() => library[Symbol.asyncDispose]())

for (const [nth, [name, trace]] of Object.entries(traces).entries()) {
  test(`50 slots serve a library of 1,000 assets, of which tasks use 200: ${name}`, async () => {
    const { creates, optimum } = await library.follow(trace(size), nth * size.inUse)
    console.log(`${name}: ${creates} creations, ${optimum} by the optimum, ${(creates / optimum).toFixed(2)}`)
    expect(creates).toBeGreaterThan(size.slots)
    expect(creates / optimum).toBeLessThanOrEqual(1.3)
  }, 600_000)
}
