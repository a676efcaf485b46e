/**
 * Runs schedules of the simulation, and prints a line of JSON for each: `bun test/simulation/main.ts --seed 7`. See the
 * page of this folder.
 */
import { parseArgs } from 'node:util'
import './virtual-process.ts'

const realNow = Bun.nanoseconds

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    schedules: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
  },
})
await import('../support/memory-template.ts')
const { runSchedule } = await import('./schedule.ts')
const first = Number(values.seed)
const startedAt = realNow()
for (let seed = first; seed < first + Number(values.schedules); seed++) {
  const { trace, ...result } = await runSchedule(seed, { keepTrace: values.trace })
  if (trace) process.stdout.write(trace.join(''))
  console.log(JSON.stringify(result))
}
console.error(`${Math.round((realNow() - startedAt) / 1e6)} ms, ${JSON.stringify(process.cpuUsage())}`)
process.exit()
