/**
 * Runs the schedules of consecutive seeds, and prints a line of JSON for each: `bun test/simulation/main.ts --seed 7`.
 * With `--trace` it prints before each line everything that has happened. With `--until-found` it ends at the first
 * schedule that shows a violation.
 */
import { parseArgs } from 'node:util'
// First: the modules below keep the timers and random numbers that they find.
import './virtual/virtual-process.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    schedules: { type: 'string', default: '1' },
    fault: { type: 'string' },
    trace: { type: 'boolean', default: false },
    'until-found': { type: 'boolean', default: false },
  },
})
await import('../support/memory-template.ts')
const { runSchedule } = await import('./schedule.ts')
const { faults } = await import('./faults.ts')
const fault = values.fault === undefined ? undefined : faults[values.fault]
if (values.fault !== undefined && !fault) throw new Error(`there is no fault ${values.fault}`)
const first = Number(values.seed)
for (let seed = first; seed < first + Number(values.schedules); seed++) {
  const { trace, ...result } = await runSchedule(seed, { fault, keepTrace: values.trace })
  if (trace) process.stdout.write(trace.join(''))
  console.log(JSON.stringify(result))
  if (values['until-found'] && result.violations.length > 0) break
}
process.exit()
