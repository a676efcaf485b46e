import { compareTexts, copyText } from '../shared/text.ts'

/** The sort position of a row: by `key`, then by `id`, both compared by UTF-16 code units and in the same direction. */
export interface Position {
  readonly key: string
  readonly id: string
}

/** A copy of a row's position. It does not keep the response text in memory from which the row was parsed. */
export const positionOf = ({ key, id }: Position): Position => ({ key: copyText(key), id: copyText(id) })

/** Compares positions in ascending order: negative when `a` comes first. */
export const comparePositions = (a: Position, b: Position): number =>
  compareTexts(a.key, b.key) || compareTexts(a.id, b.id)

const instant = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,64}))?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i

/** The usual form: UTC, whole seconds. Days 29 to 31 take the other path, because not every month has them. */
const plainInstant =
  /^[12]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:Z|[+-]00:00)$/

/** Seconds since 1970 of a `plainInstant`. `Date.parse` takes three times as long, and lists have many times. */
const secondsOf = (time: string): number => {
  const digits = (at: number) => 10 * time.charCodeAt(at) + time.charCodeAt(at + 1) - 11 * 0x30
  const year = 100 * digits(0) + digits(2)
  return Date.UTC(year, digits(5) - 1, digits(8), digits(11), digits(14), digits(17)) / 1000
}

/**
 * A sort key that orders times as instants, in whatever time zone they are written.
 *
 * Accepts `2026-03-18T03:33:32Z`, `2026-03-18T11:33:32.5+08:00`, and `2026-03-18 03:33:32`, which is read as UTC.
 * Fractions of a second count in full, up to 64 digits. Text that is not a time gives the empty key, which sorts first.
 */
export const instantKey = (time = ''): string => {
  if (plainInstant.test(time)) return keyOf(secondsOf(time))
  const [, date, clock, fraction = '', zone = 'Z'] = instant.exec(time) ?? []
  const offset = zone.length === 3 ? `${zone}:00` : zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone
  return keyOf(Date.parse(`${date}T${clock}${offset.toUpperCase()}`) / 1000, fraction)
}

/** The sort key of an instant in milliseconds since 1970, an integer. */
export const instantKeyOf = (time: number): string => {
  const seconds = Math.floor(time / 1_000)
  return keyOf(seconds, String(time - 1_000 * seconds).padStart(3, '0'))
}

/** Empty for NaN. */
const keyOf = (seconds: number, fraction = ''): string => {
  if (!Number.isFinite(seconds)) return ''
  // Only times before 1970 can have fewer than 12 digits.
  const whole = seconds < 0 ? String(seconds + shift).padStart(12, '0') : String(seconds + shift)
  if (fraction === '') return whole
  const digits = fraction.replace(/0+$/, '')
  return digits === '' ? whole : `${whole}.${digits}`
}

/** Makes times before 1970 positive, so that keys of equal length sort as text. */
const shift = 1e11

/** Parses a time to milliseconds since 1970. Undefined when the text is not a time. */
export const instantOf = (time: string | undefined): number | undefined => {
  const key = instantKey(time)
  return key === '' ? undefined : Math.round((Number(key) - shift) * 1000)
}
