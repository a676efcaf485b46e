import { expect, test } from 'bun:test'
import type { OpenResult } from './open-load.ts'
import {
  floodColumns,
  floodRow,
  medianRound,
  type OverloadRound,
  overloadColumns,
  overloadNote,
  overloadRow,
} from './rows.ts'

const result = (p99: number): OpenResult => ({
  ...{ good: 100, refused: 0, failed: 0, givenUp: 300, late: 20, cpuSeconds: 0.5, seconds: 2 },
  ...{ whole: { p50: 1, p99 }, refusal: { p50: 0, p99: 0 }, lag: { p50: 0, p99: 0 } },
})

const round = (peak: number, good: number): OverloadRound => ({
  peak: { perSecond: peak, perCpuSecond: peak },
  overload: { ...result(1), perSecond: good, perCpuSecond: good },
})

const rounds = [round(1_000, 990), round(500, 100), round(2_000, 1_700)]

test('the part of the peak is the median of the parts of the rounds, with the figures of its round', () => {
  expect(medianRound(rounds)).toBe(rounds[2] as OverloadRound)
  const row = overloadRow('x', rounds)
  const cells = Object.fromEntries(overloadColumns.map((column, nth) => [column, row.cells[nth]]))
  expect(cells).toMatchObject({ 'peak /s': '2000', 'good /s': '1700', 'of the peak': '85 %' })
  expect(cells).toMatchObject({ late: '5 %', 'generator busy': '25 %' })
  expect(overloadNote(row)).toBe('x: 85 % of the peak, goal at least 85: met')
})

test('the ratio of the quiet user is the median of the ratios of the rounds', () => {
  const quiet = (p99: number) => ({ served: result(p99), direct: result(1) })
  const pairs = [
    [1, 9],
    [2, 3],
    [4, 8],
  ] as const
  const all = pairs.map(([alone, beside]) => ({ alone: quiet(alone), beside: quiet(beside), flood: result(1) }))
  const row = floodRow('x', all)
  expect(row.times).toBe(2)
  // Requests of the quiet user that found all its connections busy are not refused.
  expect(row.cells[floodColumns.indexOf('refused')]).toBe('0')
})
