import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { comparePositions, instantKey, instantKeyOf } from '../../plugins/pagination-normalizer/index.ts'

const pad = (value: number, digits = 2) => String(value).padStart(digits, '0')

/** Spellings of one instant: with `Z`, with an offset, and without a zone, which means UTC. */
const spellings = (time: number, minutes: number, fraction: string): readonly string[] => {
  const utc = new Date(time).toISOString().slice(0, 19)
  const local = new Date(time + minutes * 60_000).toISOString().slice(0, 19)
  const sign = minutes < 0 ? '-' : '+'
  const [hours, rest] = [pad(Math.floor(Math.abs(minutes) / 60)), pad(Math.abs(minutes) % 60)]
  return [
    `${utc}${fraction}Z`,
    `${utc}${fraction}+00:00`,
    `${local}${fraction}${sign}${hours}:${rest}`,
    `${local}${fraction}${sign}${hours}${rest}`,
    `${utc.replace('T', ' ')}${fraction}`,
  ]
}

const instant = fc.record({
  time: fc
    .integer({ min: Date.parse('0001-02-01T00:00:00Z'), max: Date.UTC(9998, 1) })
    .map((time) => Math.floor(time / 1000) * 1000),
  minutes: fc.integer({ min: -14 * 60, max: 14 * 60 }),
  fraction: fc.option(
    fc.nat({ max: 999_999_999 }).map((nanos) => `.${pad(nanos, 9)}`),
    { nil: '' },
  ),
})

describe('the sort key of a time', () => {
  test('is the same for a number of milliseconds and its text', () => {
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(1, 1), max: Date.UTC(9998, 1) }), (time) => {
        expect(instantKeyOf(time)).toBe(instantKey(new Date(time).toISOString()))
      }),
    )
    expect(instantKeyOf(-1)).toBe(instantKey('1969-12-31T23:59:59.999Z'))
  })

  test('is the same for all spellings of an instant', () => {
    fc.assert(
      fc.property(instant, ({ time, minutes, fraction }) => {
        expect(new Set(spellings(time, minutes, fraction).map(instantKey)).size).toBe(1)
      }),
    )
  })

  test('is the same for another spelling, with any fields, also for an invalid time', () => {
    const expectSame = (date: string, clock: string) => {
      for (const zone of ['Z', '+00:00', '-00:00']) {
        expect([date, clock, zone, instantKey(`${date}T${clock}${zone}`)]).toEqual([
          ...[date, clock, zone, instantKey(`${date} ${clock}`)],
        ])
      }
    }
    for (const year of [
      '0000',
      '0099',
      '0999',
      '1000',
      '1900',
      '1970',
      '1999',
      '2000',
      '2023',
      '2024',
      '2999',
      '3000',
    ]) {
      for (let month = 0; month <= 13; month++) {
        for (let day = 0; day <= 32; day++) expectSame(`${year}-${pad(month)}-${pad(day)}`, '23:59:59')
      }
    }
    for (const clock of [
      '00:00:00',
      '23:00:00',
      '24:00:00',
      '24:00:01',
      '25:00:00',
      '00:60:00',
      '00:00:60',
      '99:99:99',
    ]) {
      expectSame('2024-02-28', clock)
    }
  })

  test('has the order of the instants, to the nanosecond', () => {
    const nanos = ({ time, fraction }: { time: number; fraction: string }) =>
      BigInt(time) * 1_000_000n + BigInt(fraction.slice(1) || '0')
    fc.assert(
      fc.property(instant, instant, fc.nat(4), fc.nat(4), fc.boolean(), (a, other, first, second, near) => {
        const b = near ? { ...other, time: a.time } : other
        const keys = [
          instantKey(spellings(a.time, a.minutes, a.fraction)[first]),
          instantKey(spellings(b.time, b.minutes, b.fraction)[second]),
        ] as const
        const expected = nanos(a) < nanos(b) ? -1 : nanos(a) > nanos(b) ? 1 : 0
        expect(comparePositions({ key: keys[0], id: '' }, { key: keys[1], id: '' })).toBe(expected)
      }),
      { numRuns: 500 },
    )
  })

  test('accepts the three documented formats', () => {
    const ordered = [
      '2026-03-18T11:33:31+08:00',
      '2026-03-18 03:33:32',
      '2026-03-18T03:33:32.5Z',
      '2026-03-18T03:33:33Z',
      '2026-03-18T11:33:34+08',
      '2026-03-18 03:33:35.000001',
    ]
    expect(ordered.toSorted((a, b) => (instantKey(a) < instantKey(b) ? -1 : 1))).toEqual(ordered)
  })

  test('of an invalid time is before all times', () => {
    for (const text of [
      undefined,
      '',
      'soon',
      '2026',
      '2026-13-01T00:00:00Z',
      '2026-03-18T03:33:32+99:99',
      '1770000000',
      `2026-03-18T03:33:32.${'1'.repeat(100_000)}Z`,
    ]) {
      expect(instantKey(text)).toBe('')
    }
  })

  test('is short for any text', () => {
    expect(instantKey(`2026-03-18T03:33:32.${'1'.repeat(64)}Z`).length).toBeLessThan(100)
  })
})
