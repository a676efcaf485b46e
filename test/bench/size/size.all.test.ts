/** Runs with `--all`: a database is filled, and a server runs on it for some seconds; with SLUICE_SLOW for minutes, with all of it. */
import { expect, test } from 'bun:test'
import { tmpdir } from 'node:os'

import { describeSlow } from '../../support/run-if.ts'
import { findProblems } from './executed-plans.ts'
import { measureSize } from './size.ts'

const folder = tmpdir()

const expectBounded = async (part: number, rounds: number, restSeconds: number) => {
  const lines: string[] = []
  const report = await measureSize({ part, rounds, restSeconds, folder }, (line) => void lines.push(line))
  expect(report.problems).toEqual([])
  expect(report.starts).toHaveLength(3)
  expect(report.latencies).toHaveLength(2 * 3 * 10)
  // The lists, and what looks for old rows.
  expect(report.statements.length).toBeGreaterThan(100)
  for (const word of ['from events', 'from deliveries', 'from idempotency_keys', 'from group_shares'])
    expect(report.statements.some(({ text }) => text.includes(word))).toBeTrue()
}

test(
  'with a hundredth of the full size, no statement reads more than it must',
  () => expectBounded(100, 5, 10),
  600_000,
)

describeSlow('at full size,', () => {
  test(
    'with 100,000 users, 1,000,000 groups and 10,000,000 assets, no statement reads more than it must',
    () => expectBounded(1, 100, 90),
    7_200_000,
  )
})

test('a statement that reads a large table from end to end is a problem, and one that reads too many rows', () => {
  const statement = { times: 1, buffers: 1, ms: 1 }
  const statements = [
    { ...statement, text: 'a', rows: 10, scans: ['assets'] },
    { ...statement, text: 'b', rows: 101, scans: ['revision'] },
    { ...statement, text: 'c', rows: 100, scans: [] },
  ]
  expect(findProblems(statements, new Set(['assets']), 100)).toEqual(['reads all of assets: a', 'reads 101 rows: b'])
})
