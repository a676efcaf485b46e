/** Preloaded into the server of the soak: on SIGUSR2 it collects its garbage, and appends what is left to the file `SOAK_COLLECTIONS`, as one line of JSON. */
import { heapStats } from 'bun:jsc'
import { appendFileSync } from 'node:fs'
import type { Collection } from './verdict.ts'

const file = process.env.SOAK_COLLECTIONS ?? ''

process.on('SIGUSR2', () => {
  Bun.gc(true)
  const { heapSize, objectTypeCounts } = heapStats()
  const left: Omit<Collection, 'at'> = { memory: process.memoryUsage.rss(), heap: heapSize, objects: objectTypeCounts }
  appendFileSync(file, `${JSON.stringify(left)}\n`)
})
