/** Runs with `--all`: schedules in two processes for each of two dozen planted faults. */
import { expect, test } from 'bun:test'
import { faults } from './faults.ts'
import { replayOf, simulate } from './run.ts'

const maxSchedules = 400

/**
 * The seeds where the search begins: the first ones that have shown a fault. Default 1. A change of the simulation gives
 * a seed another schedule; then the search goes on with the seeds that follow.
 */
const firstSeeds: Readonly<Record<string, number>> = {
  'a lost answer to the creation of a group counts as a failure': 7,
  'a new name is recorded before the upstream has it': 51,
  'two requests rename a group at once': 59,
  'a request is sent again after a reset': 27,
  'the statements of a batch take effect one by one': 5,
  'the statements of a transaction take effect one by one': 2,
  'an event is written after its transaction': 111,
  'free slots are counted before a task takes one': 4,
  'a lost answer to the creation of a video counts as a failure': 15,
  'a video is forgotten while the answer to its creation is lost': 3,
  'a waiting video is claimed twice': 2,
  'videos of a killed process are forgotten': 3,
  'waiting videos are sent only by the process that has accepted them': 77,
  'two lists at the same time share an answer': 5,
  'each process counts the use of limits for itself': 2,
  'what a killed process has reserved stays reserved': 5,
  'a stream that is resumed starts with the newest event': 81,
}

for (const name of Object.keys(faults))
  test(`is found: ${name}`, async () => {
    const first = `${firstSeeds[name] ?? 1}`
    const results = await simulate(
      ...['--fault', name, '--until-found', '--seed', first, '--schedules', `${maxSchedules}`],
    )
    const found = results.at(-1)
    if (!found || found.violations.length === 0) throw new Error(`${results.length} schedules do not show it`)
    console.log(replayOf(found, name))
    expect(await simulate('--fault', name, '--seed', `${found.seed}`)).toEqual([found])
  }, 3_600_000)

test('there are at least 20 faults', () => expect(Object.keys(faults).length).toBeGreaterThanOrEqual(20))
