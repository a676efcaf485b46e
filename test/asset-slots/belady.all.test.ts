/** Runs with `--all`: each trace first creates the 1,000 assets of the library. */
import { expect, test } from 'bun:test'
import { follow, type TraceSize, traces } from './traces.ts'

const size: TraceSize = { slots: 50, assets: 1_000, inUse: 200, tasks: 400, waiting: 100 }

for (const [name, trace] of Object.entries(traces)) {
  test(`50 slots serve a library of 1,000 assets, of which tasks use 200: ${name}`, async () => {
    const { creates, optimum } = await follow('sqlite', trace(size), size)
    console.log(`${name}: ${creates} creations, ${optimum} by the optimum, ${(creates / optimum).toFixed(2)}`)
    expect(creates / optimum).toBeLessThanOrEqual(1.3)
  }, 600_000)
}
