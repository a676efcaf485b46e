/**
 * Runs the schedules of consecutive seeds, and prints a line of JSON for each: `bun test/simulation/main.ts --seed 7`.
 * With `--trace` it prints before each line everything that has happened. With `--until-found` it ends at the first
 * schedule that shows a violation. With several `--fault`, each begins with the `--seed` at its place.
 */
import { parseArgs } from 'node:util'
// First: the modules below keep the timers and random numbers that they find.
import './virtual/virtual-process.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', multiple: true, default: ['1'] },
    schedules: { type: 'string', default: '1' },
    fault: { type: 'string', multiple: true },
    trace: { type: 'boolean', default: false },
    'until-found': { type: 'boolean', default: false },
  },
})
await import('../support/memory-template.ts')
const { runSchedule } = await import('./schedule.ts')
const { faults } = await import('./faults.ts')
for (const [nth, name] of (values.fault ?? [undefined]).entries()) {
  const fault = name === undefined ? undefined : faults[name]
  if (name !== undefined && !fault) throw new Error(`there is no fault ${name}`)
  const first = Number(values.seed[nth] ?? 1)
  for (let seed = first; seed < first + Number(values.schedules); seed++) {
    const { trace, ...result } = await runSchedule(seed, { fault, keepTrace: values.trace })
    if (trace) process.stdout.write(trace.join(''))
    console.log(JSON.stringify({ ...result, fault: name }))
    if (values['until-found'] && result.violations.length > 0) break
  }
}
process.exit()
