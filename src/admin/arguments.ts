/** The arguments are not a valid command: exit status 2. */
export class UsageError extends Error {}
/** The command failed: exit status 1. */
export class CommandRejectedError extends Error {}

/** Checks a text of 1 to `max` characters that does not break lines and columns. Throws CommandRefusedError. */
export const plainText = (text: string, what: string, max: number): string => {
  const length = [...text].length
  if (length >= 1 && length <= max && text.trim() === text && !/\p{Cc}/u.test(text) && text.isWellFormed()) return text
  throw new CommandRejectedError(`${what} has 1 to ${max} characters, no control characters, and no spaces around it`)
}

const iso = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?(Z|[+-]\d\d:\d\d)?$/

/** Parses a date, or a date and time, in ISO 8601. Milliseconds since 1970. Throws UsageError. */
export const instant = (text: string, flag: string): number => {
  const [, date, timeOfDay = 'T00:00', zone = 'Z'] = iso.exec(text) ?? []
  const parsed = Date.parse(`${date}${timeOfDay}${zone}`)
  if (Number.isNaN(parsed)) throw new UsageError(`${flag} must be a date and time in ISO 8601`)
  return parsed
}

/** Checks a calendar date. Throws UsageError, also for February 30, which `Date.parse` may accept as a day in March. */
export const date = (text: string, flag: string): string => {
  const parsed = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(parsed) && time(parsed).startsWith(text)) return text
  throw new UsageError(`${flag} must be a date such as 2030-01-31`)
}

/** Formats a time (milliseconds since 1970) as ISO 8601 in UTC. */
export const time = (ms: number): string => new Date(ms).toISOString()

/** Escapes text of users like a JSON string, so that it stays on one line, runs no terminal command, and is not reordered. */
export const escapeForTerminal = (text: string): string =>
  text.replace(unprintable, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Each of these characters is one UTF-16 unit. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** One output line of tab-separated, escaped values. */
export const columns = (...values: readonly string[]): string => values.map(escapeForTerminal).join('\t')
