import { describe, expect, test } from 'bun:test'
import { type CalendarWindow, createCalendar } from '../../plugins/usage-limits/calendar.ts'

const quarterMs = 900_000

/** The local date of a time, read in another way than the calendar does. */
const dateReader = (timeZone: string) => {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' })
  return (time: number): string => format.format(time)
}

const dayBefore = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) - days * 86_400_000).toISOString().slice(0, 10)

/** What all times of one window have in common. */
const nameOf: Readonly<Record<CalendarWindow, (date: string) => string>> = {
  day: (date) => date,
  week: (date) => dayBefore(date, (new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7),
  month: (date) => date.slice(0, 7),
}

/** Shifts: none but half an hour from UTC; by half an hour; at midnight, so that a day begins at 1:00. */
for (const [timeZone, year] of [
  ['Asia/Kolkata', 2026],
  ['Australia/Lord_Howe', 2026],
  ['America/Santiago', 2024],
  ['Africa/Cairo', 2025],
  ['America/New_York', 2026],
] as const) {
  describe(`every quarter of an hour of ${year} in ${timeZone}`, () => {
    const dateAt = dateReader(timeZone)
    for (const window of ['day', 'week', 'month'] as const) {
      test(`is in the ${window} of its date, which begins with the first moment of a date`, () => {
        const calendar = createCalendar(timeZone)
        const end = Date.UTC(year + 1, 0, 2)
        const wrong: string[] = []
        let last: { readonly start: number; readonly name: string } | undefined
        for (let time = Date.UTC(year - 1, 11, 31); time < end; time += quarterMs) {
          const period = calendar.periodAt(window, time)
          const name = nameOf[window](dateAt(time))
          const begins = last && last.start !== period.start
          if (time < period.start || time >= period.end) wrong.push(`${new Date(time).toISOString()} is not inside`)
          if (last && begins === (last.name === name)) wrong.push(`${name} does not begin at its first moment`)
          if (begins) {
            if (nameOf[window](dateAt(period.start)) !== name) wrong.push(`${name} begins too early`)
            if (nameOf[window](dateAt(period.start - 1)) === name) wrong.push(`${name} begins too late`)
            if (calendar.periodAt(window, period.start - 1).end !== period.start) wrong.push(`a gap before ${name}`)
          }
          last = { start: period.start, name }
        }
        expect(wrong).toEqual([])
      })
    }
  })
}

const hours = (timeZone: string, time: string): number => {
  const { start, end } = createCalendar(timeZone).periodAt('day', Date.parse(time))
  return (end - start) / 3_600_000
}

test('a day is as long as its clock makes it', () => {
  expect(hours('America/New_York', '2026-03-08T12:00:00Z')).toBe(23)
  expect(hours('America/New_York', '2026-11-01T12:00:00Z')).toBe(25)
  expect(hours('Australia/Lord_Howe', '2026-10-04T01:00:00Z')).toBe(23.5)
  expect(hours('Australia/Lord_Howe', '2026-04-05T01:00:00Z')).toBe(24.5)
  expect(hours('Asia/Kolkata', '2026-03-08T12:00:00Z')).toBe(24)
})

test('a day begins at 1:00 where the clock skips midnight', () => {
  const { start } = createCalendar('Africa/Cairo').periodAt('day', Date.parse('2025-04-25T12:00:00Z'))
  expect(new Date(start).toISOString()).toBe('2025-04-24T22:00:00.000Z')
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'Africa/Cairo', timeStyle: 'short' })
  expect(format.format(start)).toBe('01:00')
})

test('a week that a change of clock interrupts begins on Monday all the same, and a date that did not exist is skipped', () => {
  const week = createCalendar('America/New_York').periodAt('week', Date.parse('2026-03-08T12:00:00Z'))
  expect([week.start, week.end].map((time) => new Date(time).toISOString())).toEqual([
    '2026-03-02T05:00:00.000Z',
    '2026-03-09T04:00:00.000Z',
  ])
  // Samoa went from 2011-12-29 to 2011-12-31.
  const apia = createCalendar('Pacific/Apia')
  const day = apia.periodAt('day', Date.parse('2011-12-30T09:59:59Z'))
  expect(new Date(day.end).toISOString()).toBe('2011-12-30T10:00:00.000Z')
  expect(apia.periodAt('day', day.end).start).toBe(day.end)
})

test('a time after the clock was set back across midnight stays in the day that has begun', () => {
  // In Newfoundland, until 2011, one minute after midnight became 23:01 of the day before.
  const calendar = createCalendar('America/St_Johns')
  const midnight = Date.parse('2010-11-07T02:30:00Z')
  const starts = [-60_000, 0, 30_000, 60_000, 1_800_000, 3_600_000, 7_200_000].map(
    (after) => calendar.periodAt('day', midnight + after).start,
  )
  expect(starts).toEqual(starts.toSorted((a, b) => a - b))
  expect(new Set(starts).size).toBe(2)
})

test('an unknown time zone is refused', () => {
  expect(() => createCalendar('Europe/Atlantis')).toThrow(RangeError)
})
