import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type PeriodRange, periodsOf } from '../../src/store/usage/rollup-periods.ts'

const dayMs = 86_400_000
const textOf = (time: number) => new Date(time).toISOString().slice(0, 10)
const has = ({ from, to }: PeriodRange, period: string) => from <= period && period <= to

describe('the months and days of a time', () => {
  // Years with and without a leap day, and their ends.
  const day = fc.integer({ min: Date.UTC(1999, 10, 20) / dayMs, max: Date.UTC(2004, 3, 10) / dayMs })

  test('have each day of it once, and no other', () => {
    const property = fc.property(day, fc.integer({ min: 0, max: 800 }), (first, length) => {
      const [since, until] = [textOf(first * dayMs), textOf((first + length) * dayMs)]
      const { months, whole, days } = periodsOf(since, until)
      for (let number = first - 70; number <= first + length + 70; number++) {
        const text = textOf(number * dayMs)
        const times = Number(has(whole, text.slice(0, 7))) + days.filter((range) => has(range, text)).length
        expect({ text, times }).toEqual({ text, times: Number(since <= text && text <= until) })
      }
      expect(months).toEqual({ from: since.slice(0, 7), to: until.slice(0, 7) })
      for (const { from, to } of days) expect(from.slice(0, 7)).toBe(to.slice(0, 7))
    })
    fc.assert(property, { numRuns: 300 })
  })

  test.each([
    [undefined, undefined, []],
    ['2026-02-01', '2026-02-28', []],
    ['2024-02-01', '2024-02-28', [{ from: '2024-02-01', to: '2024-02-28' }]],
    ['2026-02-02', undefined, [{ from: '2026-02-02', to: '2026-02-28' }]],
    [undefined, '2026-12-30', [{ from: '2026-12-01', to: '2026-12-30' }]],
    [
      '0000-01-02',
      '0000-02-01',
      [
        { from: '0000-01-02', to: '0000-01-31' },
        { from: '0000-02-01', to: '0000-02-01' },
      ],
    ],
    ['9999-12-02', '9999-12-31', [{ from: '9999-12-02', to: '9999-12-31' }]],
  ] as const)('from %p to %p, the days %j', (since, until, days) => {
    expect(periodsOf(since, until).days).toEqual([...days])
  })
})
