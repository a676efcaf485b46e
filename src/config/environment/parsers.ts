import { isIP } from 'node:net'
import { parsedObject } from '../../../plugins/shared/json/parsed.ts'

/** What a variable must be: the second half of each problem. */
export const webAddress = 'must be an absolute http or https address without credentials, query or fragment'
export const printableForm = 'must be printable ASCII characters without spaces'
export const tokenForm = 'must be at least 8 printable ASCII characters without spaces'
export const segmentForm = 'must be lower-case letters, digits and hyphens'
export const daysFrom0 = 'must be an integer of days from 0 to 36500'
export const daysFrom1 = 'must be an integer of days from 1 to 36500'
export const hoursForm = 'must be an integer of hours from 1 to 8760'
export const hoursAbove0 = 'must be a number of hours above 0, up to 8760'
export const secondsFrom0 = 'must be a number of seconds from 0 to 86400'
export const secondsAbove0 = 'must be a number of seconds above 0, up to 86400'

/** Parses an integer in a range. Like every parser here, it returns undefined for invalid text. */
export const integer =
  (from: number, to = Number.MAX_SAFE_INTEGER) =>
  (text: string): number | undefined =>
    /^\d{1,16}$/.test(text) && Number(text) >= from && Number(text) <= to ? Number(text) : undefined

/** Parses seconds, with up to three decimals, into milliseconds. */
export const seconds =
  (fromMs: number) =>
  (text: string): number | undefined => {
    const ms = /^\d{1,5}(\.\d{1,3})?$/.test(text) ? Math.round(Number(text) * 1_000) : -1
    return ms >= fromMs && ms <= 86_400_000 ? ms : undefined
  }

/** Parses days into milliseconds. */
export const days =
  (from: number) =>
  (text: string): number | undefined => {
    const count = integer(from, 36_500)(text)
    return count === undefined ? undefined : count * dayMs
  }

/** Parses hours, up to a year, into milliseconds. */
export const hours =
  (from: number) =>
  (text: string): number | undefined => {
    const count = integer(from, 8_760)(text)
    return count === undefined ? undefined : count * hourMs
  }

/** Parses hours above 0, with up to three decimals and up to a year, into milliseconds. */
export const decimalHours = (text: string): number | undefined => {
  const ms = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Math.round(Number(text) * hourMs) : 0
  return ms > 0 && ms <= 8_760 * hourMs ? ms : undefined
}

export const hourMs = 3_600_000
export const dayMs = 86_400_000

/** Parses a number from 0 to 1. */
export const ratio = (text: string): number | undefined =>
  /^(?:0(?:\.\d+)?|1(?:\.0+)?)$/.test(text) ? Number(text) : undefined

/** Parses one of the given words. */
export const oneOf =
  <Word extends string>(words: readonly Word[]) =>
  (text: string): Word | undefined =>
    words.find((word) => word === text)

/** Accepts text that matches a pattern. */
export const matching =
  (pattern: RegExp) =>
  (text: string): string | undefined =>
    pattern.test(text) ? text : undefined

export const key = matching(/^[\x21-\x7e]+$/)
/** A secret that the operator chooses. A shorter one is easily guessed, and the log would redact it in common words. */
export const token = matching(/^[\x21-\x7e]{8,}$/)
export const segment = matching(/^[a-z0-9-]+$/)
export const hostName = matching(/^[^\s/]+$/)

/** Parses an http or https address without credentials, query or fragment. Removes trailing slashes. */
export const address = (text: string): string | undefined => {
  const url = URL.parse(text)
  if (!url || !/^https?:\/\//i.test(text) || url.username || url.password || /[?#]/.test(text)) return undefined
  return url.href.replace(/\/+$/, '')
}

export const secretListForm = 'must be values of at least 16 characters, separated by commas'

/** Parses secrets of at least 16 characters, separated by commas. */
export const secretList = (text: string): readonly string[] | undefined => {
  const secrets = text.split(',').map((secret) => secret.trim())
  return secrets.every((secret) => secret.length >= 16) ? secrets : undefined
}

/**
 * Parses headers in the form `name=value,name=value`, as OpenTelemetry has them, into the values that may be
 * credentials, as written and percent-decoded. A value of less than 8 characters is none, and the log would redact a
 * common word.
 */
export const headerValues = (text: string): readonly string[] | undefined => {
  const headers = text.split(',').map((header) => header.trim())
  if (!headers.every((header) => /^[!-~]+=[ -~]*$/.test(header))) return undefined
  const values = headers
    .map((header) => header.slice(header.indexOf('=') + 1).trim())
    .filter((value) => value.length >= 8)
  return values.flatMap((value) => [value, decoded(value)])
}

const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/** Words separated by commas. Duplicates are removed. */
export const words =
  (pattern: RegExp) =>
  (text: string): readonly string[] | undefined => {
    const found = [...new Set(text.split(',').map((word) => word.trim()))].filter((word) => word !== '')
    return found.every((word) => pattern.test(word)) ? found : undefined
  }

/** Origins (RFC 6454 section 6.2), separated by commas. */
export const origins = (text: string): readonly string[] | undefined => {
  const found = words(/^https?:\/\/[^*]+$/)(text)
  return found?.every((origin) => URL.parse(origin)?.origin === origin) ? found : undefined
}

/** Addresses and networks in CIDR notation (RFC 4632, RFC 4291 section 2.3), separated by commas. */
export const networks = (text: string): readonly string[] | undefined => {
  const found = words(/^[0-9A-Fa-f:.]+(?:\/\d{1,3})?$/)(text)
  return found?.every(isNetwork) ? found : undefined
}

const isNetwork = (network: string): boolean => {
  const [address = '', bits] = network.split('/')
  const family = isIP(address)
  if (family === 0) return false
  return bits === undefined || Number(bits) <= (family === 4 ? 32 : 128)
}

/** Parses a JSON object of rate limits: calls per second by action, each above 0. */
export const rateLimitList = (text: string): Readonly<Record<string, number>> | undefined => {
  const parsed = parsedObject(text)
  if (!parsed) return undefined
  const valid = Object.values(parsed).every((rate) => typeof rate === 'number' && rate > 0 && Number.isFinite(rate))
  return valid ? (parsed as Record<string, number>) : undefined
}
