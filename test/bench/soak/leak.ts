/** Faults that the test of the soak plants: `bun --preload leak.ts`. `SOAK_LEAKS` names what leaks, ten times a second. */
import { openSync } from 'node:fs'
import { createServer } from 'node:net'

const kept: unknown[] = []
const leaks: Readonly<Record<string, () => unknown>> = {
  memory: () => new Uint8Array(2 ** 20).fill(1),
  descriptors: () => openSync('/dev/null', 'r'),
  sockets: () => createServer().listen(0, '127.0.0.1'),
}
const everyMs = 100
const startedAt = performance.now()
for (const name of (process.env.SOAK_LEAKS ?? '').split(',')) {
  const leak = leaks[name]
  if (!leak) continue
  let leaked = 0
  // As many as are due: a busy machine skips ticks.
  setInterval(() => {
    for (const due = (performance.now() - startedAt) / everyMs; leaked < due; leaked++) kept.push(leak())
  }, everyMs)
}
