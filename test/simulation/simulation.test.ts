import { expect, test } from 'bun:test'
import { replayOf, simulate } from './run.ts'

/** Schedules of two processes each. The seeds are fixed: only a change of the code can make the test fail. */
const schedules = Number(process.env.SLUICE_SCHEDULES ?? 40)
const processes = 2

test('no schedule shows what the rules forbid', async () => {
  const each = Math.ceil(schedules / processes)
  const results = await Promise.all(
    Array.from({ length: processes }, (_, nth) => simulate('--seed', `${1 + nth * each}`, '--schedules', `${each}`)),
  )
  expect(results.flat()).toHaveLength(each * processes)
  expect(
    results
      .flat()
      .filter(({ violations }) => violations.length > 0)
      .map((result) => replayOf(result)),
  ).toEqual([])
}, 3_600_000)

test('a seed determines everything that happens', async () => {
  const [all, some] = await Promise.all([
    simulate('--seed', '1', '--schedules', '20'),
    simulate('--seed', '9', '--schedules', '12'),
  ])
  expect(some).toEqual(all.slice(8))
  expect(new Set(all.map(({ hash }) => hash)).size).toBe(20)
  for (const { requests } of all) expect(requests).toBeGreaterThan(10)
}, 300_000)
