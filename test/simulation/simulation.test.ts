import { expect, test } from 'bun:test'
import { repeats } from '../support/repetitions.ts'
import { replayOf, simulate } from './run.ts'
import type { ScheduleResult } from './schedule.ts'

/** Schedules of all processes. The seeds are fixed: only a change of the code can make the test fail. */
const schedules = Number(process.env.SLUICE_SCHEDULES ?? repeats(12, 40))
const processes = repeats(1, 2)

const each = Math.max(repeats(12, 20), Math.ceil(schedules / processes))

let results: Promise<readonly (readonly ScheduleResult[])[]> | undefined
/** The results of each process. All tests read those of one run. */
const runAll = () => {
  results ??= Promise.all(
    Array.from({ length: processes }, (_, nth) => simulate('--seed', `${1 + nth * each}`, '--schedules', `${each}`)),
  )
  return results
}

test('no schedule shows what the rules forbid', async () => {
  const all = (await runAll()).flat()
  expect(all).toHaveLength(each * processes)
  expect(all.filter(({ violations }) => violations.length > 0).map((result) => replayOf(result))).toEqual([])
}, 3_600_000)

test('a seed determines everything that happens', async () => {
  const again = repeats(4, 12)
  const [[all = []], some] = await Promise.all([runAll(), simulate('--seed', '9', '--schedules', `${again}`)])
  expect(some).toEqual(all.slice(8, 8 + again))
  expect(new Set(all.map(({ hash }) => hash)).size).toBe(each)
  const requests = all.map((result) => result.requests)
  expect(Math.min(...requests)).toBeGreaterThan(0)
  expect(requests.reduce((sum, count) => sum + count)).toBeGreaterThan(20 * each)
}, 3_600_000)
