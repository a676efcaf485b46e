/** Not a command: status 2. */
export class UsageError extends Error {}
/** A command that cannot be done: status 1. */
export class CommandRefusedError extends Error {}

/** Text that stays on its line, and in its column. */
export const plainText = (text: string, what: string, most: number): string => {
  const length = [...text].length
  if (length >= 1 && length <= most && text.trim() === text && !/\p{Cc}/u.test(text) && text.isWellFormed()) return text
  throw new CommandRefusedError(`${what} has 1 to ${most} characters, no control characters, and no blanks around it`)
}

const iso = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?(Z|[+-]\d\d:\d\d)?$/

export const instant = (text: string, flag: string): number => {
  const [, date, timeOfDay = 'T00:00', zone = 'Z'] = iso.exec(text) ?? []
  const found = Date.parse(`${date}${timeOfDay}${zone}`)
  if (Number.isNaN(found)) throw new UsageError(`${flag} must be a date and time in ISO 8601`)
  return found
}

/** A day of the calendar, as it is written. Engines would take the 30th of February for a day in March. */
export const date = (text: string, flag: string): string => {
  const found = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(found) && time(found).startsWith(text)) return text
  throw new UsageError(`${flag} must be a date such as 2030-01-31`)
}

export const time = (ms: number): string => new Date(ms).toISOString()

/** What users may have chosen, as JSON writes it in a string: text of one line, that no terminal takes for a command or shows in another order. */
export const printable = (text: string): string =>
  text.replace(unprintable, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** All of them are of one code unit. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

export const columns = (...values: readonly string[]): string => values.map(printable).join('\t')
