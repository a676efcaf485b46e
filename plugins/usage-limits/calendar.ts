/** A window of the calendar. */
export type CalendarWindow = 'day' | 'week' | 'month'

/** From `start` to before `end`, milliseconds since 1970. */
export interface Period {
  readonly start: number
  readonly end: number
}

/** Days, weeks and months of a time zone. */
export interface Calendar {
  /** The day, the week (from Monday) or the month that contains a time. */
  periodAt(window: CalendarWindow, time: number): Period
}

const dayMs = 86_400_000

/**
 * The calendar of a time zone. Every time is in one day, one week and one month.
 *
 * A day begins at the first moment of its date: at 1:00 where the clock skips midnight. Throws RangeError for an
 * unknown time zone.
 *
 * @param timeZone IANA name
 */
export const createCalendar = (timeZone: string): Calendar => {
  const format = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
    ...{ timeZone, year: 'numeric', month: 'numeric', day: 'numeric' },
  })

  /** The local date, as the number of days since 1970-01-01. */
  const dateAt = (time: number): number => {
    const parts: Record<string, string> = {}
    for (const { type, value } of format.formatToParts(time)) parts[type] = value
    return Date.UTC(Number(parts.year), Number(parts.month) - 1, Number(parts.day)) / dayMs
  }

  /**
   * The first moment of a date, or of the next date that exists. All processes must find the same one, so the search
   * begins at times that depend on nothing but the date.
   */
  const startOf = (date: number): number => {
    // No time zone is a day or more from UTC.
    let before = (date - 1) * dayMs
    let from = (date + 1) * dayMs
    while (from - before > 1) {
      const middle = Math.floor((before + from) / 2)
      if (dateAt(middle) < date) before = middle
      else from = middle
    }
    return from
  }

  const found = new Map<CalendarWindow, Period>()

  const find = (window: CalendarWindow, time: number): Period => {
    for (let date = dateAt(time); ; ) {
      const [first, next] = datesOf(window, date)
      const period = { start: startOf(first), end: startOf(next) }
      // The clock was set back from just after midnight to the day before.
      if (time >= period.end) date = next
      else return period
    }
  }

  return {
    periodAt(window, time) {
      const known = found.get(window)
      if (known && known.start <= time && time < known.end) return known
      const period = find(window, time)
      found.set(window, period)
      return period
    },
  }
}

/** The first date of a window, and the first one after it. */
const datesOf = (window: CalendarWindow, date: number): readonly [number, number] => {
  if (window === 'day') return [date, date + 1]
  if (window === 'week') {
    // 1970-01-01 was a Thursday.
    const monday = date - ((((date + 3) % 7) + 7) % 7)
    return [monday, monday + 7]
  }
  const day = new Date(date * dayMs)
  const [year, month] = [day.getUTCFullYear(), day.getUTCMonth()]
  return [Date.UTC(year, month, 1) / dayMs, Date.UTC(year, month + 1, 1) / dayMs]
}
