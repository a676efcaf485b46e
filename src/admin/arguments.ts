import { type Json, readJson, repeatsKey } from '../../plugins/shared/json/json.ts'
import { time } from './terminal.ts'

/** The arguments are not a valid command: exit status 2. */
export class UsageError extends Error {}
/** The command failed: exit status 1. */
export class CommandRejectedError extends Error {}

/** The settings in the environment are not valid: exit status 2. */
export class SettingsError extends Error {}

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

/** Parses JSON. Throws UsageError, also for a key that stands twice in an object. */
export const json = (text: string, what: string): unknown => {
  const parsed = readParsed(text)
  if (!parsed) throw new UsageError(`${what} must be JSON`)
  if (repeatsKey(parsed)) throw new UsageError(`${what} must have no field twice`)
  return parsed.value()
}

const readParsed = (text: string): Json | undefined => {
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}

/** One of some words, or undefined. Throws UsageError. */
export const wordOf = <const Word extends string>(
  text: string | undefined,
  words: readonly Word[],
  flag: string,
): Word | undefined => {
  const word = words.find((each) => each === text)
  if (text !== undefined && word === undefined) throw new UsageError(`${flag} must be one of ${words.join(', ')}`)
  return word
}
