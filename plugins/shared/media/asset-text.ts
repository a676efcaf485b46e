import { type Json, JsonStringReader } from '../json/json.ts'

/** Bytes read so far at the beginnings of a request's strings. */
export interface ScannedPrefix {
  /** In bytes of the JSON source. */
  bytes: number
}

/**
 * Limit for the leading symbols and spaces of all strings of a request. Real texts stay far below it; a request beyond
 * it is to be rejected.
 */
export const maxPrefixBytes = 2 ** 20

/** Bytes of each string that do not count towards the limit: most texts begin with few symbols, if any. */
const freePrefixBytes = 16

/**
 * Returns the text after `asset:` and up to two slashes, in a string that begins with it. Undefined for any other
 * string.
 *
 * Leading symbols and spaces are skipped. It reads only the beginning of the string.
 */
export const assetIn = (json: Json, scanned: ScannedPrefix = { bytes: 0 }): string | undefined => {
  const { bytes } = json
  // The first letter usually shows that it is another text.
  const end = Math.min(bytes.length - 1, freePrefixBytes + maxPrefixBytes - scanned.bytes)
  let at = 1
  while (at < end && isAsciiSymbol(bytes[at] as number)) at++
  const first = bytes[at] ?? 0
  const isOtherScheme = isLetterOrDigit(first) && (first | 0x20) !== letters[0]
  const text = isOtherScheme ? undefined : new JsonStringReader(bytes, at, end)
  const found = text !== undefined && readScheme(text)
  scanned.bytes += Math.max(0, (text?.at ?? at) - freePrefixBytes)
  return found ? restOf(bytes, text.at) : undefined
}

/** Reads up to the end of the scheme. False: there is none. */
const readScheme = (text: JsonStringReader): boolean => {
  let code = text.next()
  while (code !== -1 && isSymbol(code)) code = text.next()
  for (const [index, letter] of letters.entries()) {
    if (index > 0) code = nextVisible(text)
    // U+017F equals "s" when case is ignored.
    if ((code | 0x20) !== letter && !(letter === 0x73 && code === 0x17f)) return false
  }
  for (let slashes = 0; slashes < 2; slashes++) {
    const before = text.at
    if (nextVisible(text) === 0x2f) continue
    text.at = before
    break
  }
  return true
}

const nextVisible = (text: JsonStringReader): number => {
  let code = text.next()
  while (code !== -1 && isInvisible(code)) code = text.next()
  return code
}

/** Longer than any id. A longer text is cut; it matches no asset either way. */
const maxIdBytes = 4_096

const restOf = (bytes: Uint8Array, at: number): string =>
  bytes.length - at <= maxIdBytes
    ? (JSON.parse(`"${utf8.decode(bytes.subarray(at))}`) as string)
    : utf8.decode(bytes.subarray(at, at + maxIdBytes))

/** The same for a decoded string. */
export const assetInText = (text: string): string | undefined => {
  // Shortcut: most keys begin with another letter.
  const first = text.charCodeAt(0) | 0x20
  if (first > 0x61 && first <= 0x7a) return undefined
  const match = atStart.exec(text)
  return match ? text.slice(match[0].length) : undefined
}

const invisible = '[\\p{Cc}\\p{Cf}\\p{Z}]'
const scheme = 'asset:'
const atStart = new RegExp(`^[^\\p{L}\\p{N}]*${[...scheme].join(`${invisible}*`)}(?:${invisible}*/){0,2}`, 'iu')

/**
 * Source of a regular expression that matches any JSON source with a string or key that begins with the scheme, and
 * perhaps other texts.
 *
 * The caller has to search for `\\u` separately. It matches from quote to quote, so that it reads nothing twice. The
 * only non-ASCII letter that case folding turns into one of the scheme is U+017F.
 */
export const assetPrefixSource = `"(?:[^A-Za-z0-9"\\\\]|\\\\[^u"])*${[...scheme].join('(?:[\\x00-\\x20\\x7f-\\uffff]|\\\\[bfnrt])*').replaceAll('s', '[s\\u017f]')}`

const letters = [...scheme].map((letter) => letter.charCodeAt(0))

const invisibleCharacter = new RegExp(`^${invisible}$`, 'u')
const isInvisible = (code: number): boolean =>
  code < 0x80 ? code <= 0x20 || code === 0x7f : invisibleCharacter.test(String.fromCodePoint(code))

/**
 * Cache by code point: 1 for a symbol, 2 for a letter or number. One test with the regular expression costs as much as
 * a hundred look-ups.
 */
const characterClass = new Uint8Array(0x110000)
const symbol = /^[^\p{L}\p{N}]$/iu

const isSymbol = (code: number): boolean => {
  characterClass[code] ||= symbol.test(String.fromCodePoint(code)) ? 1 : 2
  return characterClass[code] === 1
}

const isLetterOrDigit = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a)

/** Any ASCII character but letters, digits and the backslash. */
const isAsciiSymbol = (code: number): boolean => code < 0x80 && code !== 0x5c && !isLetterOrDigit(code)

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
