/** Runs with `--all`: up to hundreds of schedules for each of two dozen planted faults. */
import { expect, test } from 'bun:test'
import { faults } from './faults.ts'
import { replayOf, simulate } from './run.ts'

const maxSchedules = 400

for (const name of Object.keys(faults))
  test(`is found: ${name}`, async () => {
    const results = await simulate('--fault', name, '--until-found', '--schedules', `${maxSchedules}`)
    const found = results.at(-1)
    if (!found || found.violations.length === 0) throw new Error(`${results.length} schedules do not show it`)
    console.log(replayOf(found, name))
    expect(await simulate('--fault', name, '--seed', `${found.seed}`)).toEqual([found])
  }, 3_600_000)

test('there are at least 20 faults', () => expect(Object.keys(faults).length).toBeGreaterThanOrEqual(20))
