/** `bun run bench NAME`: prints figures, asserts nothing. CPU time rather than wall time, and ratios within one run: the machine may be busy. */
import { front } from './front.ts'
import { limits } from './limits.ts'
import { lists } from './lists.ts'

const benches: Readonly<Record<string, () => Promise<void>>> = { front, limits, lists }

const name = process.argv[2] ?? ''
const bench = benches[name]
if (!bench) {
  console.error(`usage: bun run bench ${Object.keys(benches).join(' | ')}`)
  process.exit(2)
}
await bench()
