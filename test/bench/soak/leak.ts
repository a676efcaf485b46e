/** Faults that the test of the soak plants: `bun --preload leak.ts`. `SOAK_LEAKS` names what leaks, ten times a second. */
import { openSync } from 'node:fs'
import { createServer } from 'node:net'

const kept: unknown[] = []
const leaks: Readonly<Record<string, () => unknown>> = {
  memory: () => new Uint8Array(2 ** 20).fill(1),
  descriptors: () => openSync('/dev/null', 'r'),
  sockets: () => createServer().listen(0, '127.0.0.1'),
}
for (const name of (process.env.SOAK_LEAKS ?? '').split(',')) {
  const leak = leaks[name]
  if (leak) setInterval(() => kept.push(leak()), 100)
}
