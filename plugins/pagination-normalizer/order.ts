import { copyText } from '../shared/text.ts'

/** What a list is ordered by: `key` by code units, then `id` likewise, both in one direction. */
export interface Position {
  readonly key: string
  readonly id: string
}

/** The position of a row, for what outlasts the answer that the row came in. */
export const positionOf = ({ key, id }: Position): Position => ({ key: copyText(key), id: copyText(id) })

/** Ascending order of positions; negative when `a` comes first. */
export const comparePositions = (a: Position, b: Position): number => compare(a.key, b.key) || compare(a.id, b.id)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const instant = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,64}))?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i

/** UTC to the second, as upstreams write most times, and on a day that every month has. */
const plainInstant =
  /^[12]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:Z|[+-]00:00)$/

/** Of such a time, in seconds since 1970: a list has many, and `Date.parse` takes three times as long. */
const secondsOf = (time: string): number => {
  const digits = (at: number) => 10 * time.charCodeAt(at) + time.charCodeAt(at + 1) - 11 * 0x30
  const year = 100 * digits(0) + digits(2)
  return Date.UTC(year, digits(5) - 1, digits(8), digits(11), digits(14), digits(17)) / 1000
}

/**
 * A key that orders times as instants, however they are written: `2026-03-18T03:33:32Z`, `2026-03-18T11:33:32.5+08:00`, and
 * `2026-03-18 03:33:32`, which is taken for UTC. Fractions count in full, up to 64 digits. What is no time comes before all times.
 */
export const instantKey = (time = ''): string => {
  if (plainInstant.test(time)) return keyOf(secondsOf(time))
  const [, date, clock, fraction = '', zone = 'Z'] = instant.exec(time) ?? []
  const offset = zone.length === 3 ? `${zone}:00` : zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone
  return keyOf(Date.parse(`${date}T${clock}${offset.toUpperCase()}`) / 1000, fraction)
}

/** The same for an instant in milliseconds since 1970, an integer. */
export const instantKeyOf = (time: number): string => {
  const seconds = Math.floor(time / 1_000)
  return keyOf(seconds, String(time - 1_000 * seconds).padStart(3, '0'))
}

/** Empty for what is no number. */
const keyOf = (seconds: number, fraction = ''): string => {
  if (!Number.isFinite(seconds)) return ''
  // Before 1970 there is a digit less, or more.
  const whole = seconds < 0 ? String(seconds + shift).padStart(12, '0') : String(seconds + shift)
  if (fraction === '') return whole
  const digits = fraction.replace(/0+$/, '')
  return digits === '' ? whole : `${whole}.${digits}`
}

/** Years before 1970 stay positive, and order as text. */
const shift = 1e11

/** The instant that a time names, in milliseconds since 1970; undefined when it is none. */
export const instantOf = (time: string | undefined): number | undefined => {
  const key = instantKey(time)
  return key === '' ? undefined : Math.round((Number(key) - shift) * 1000)
}
