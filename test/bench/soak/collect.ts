/** Preloaded into the server of the soak: on SIGUSR2 it collects its garbage, and appends what is left to the file `SOAK_COLLECTIONS`, as one line of JSON. */
import { heapStats } from 'bun:jsc'
import { appendFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Collection } from './verdict.ts'

const file = process.env.SOAK_COLLECTIONS ?? ''
/** The allocator gives free pages back some hundred milliseconds later, while requests take others: the lowest value counts. */
const [readings, pauseMs] = [10, 50]

process.on('SIGUSR2', async () => {
  Bun.gc(true)
  const { heapSize, objectTypeCounts } = heapStats()
  let memory = Number.POSITIVE_INFINITY
  for (let reading = 0; reading < readings; reading++) {
    await delay(pauseMs)
    memory = Math.min(memory, process.memoryUsage.rss())
  }
  const left: Omit<Collection, 'at'> = { memory, heap: heapSize, objects: objectTypeCounts }
  appendFileSync(file, `${JSON.stringify(left)}\n`)
})
