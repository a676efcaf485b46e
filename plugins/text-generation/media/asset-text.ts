import { type Json, JsonStringReader } from '../../shared/json.ts'

/** What has been read of strings to see how they begin. */
export interface ScannedPrefix {
  /** In JSON's own text. */
  bytes: number
}

/** Nobody begins texts with that much that is no letter. Beyond it, strings are not looked into any more, and the request is to be refused. */
export const maxPrefixBytes = 2 ** 20

/** Bytes of each string that do not count: most texts begin with some signs, if any. */
const freePrefixBytes = 16

/** What follows `asset:` and up to two slashes in a string that begins so; undefined for any other. Of a string only the beginning is read. */
export const assetIn = (json: Json, scanned: ScannedPrefix = { bytes: 0 }): string | undefined => {
  const { bytes } = json
  // A string's first letter nearly always tells.
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

/** Reads on behind the scheme; false where there is none. */
const readScheme = (text: JsonStringReader): boolean => {
  let code = text.next()
  while (code !== -1 && isSymbol(code)) code = text.next()
  for (const [index, letter] of letters.entries()) {
    if (index > 0) code = nextVisible(text)
    // In a search without case, U+017F is an s.
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

/** An id is shorter. What is longer is cut: it is nobody's either way. */
const maxIdBytes = 4_096

const restOf = (bytes: Uint8Array, at: number): string =>
  bytes.length - at <= maxIdBytes
    ? (JSON.parse(`"${utf8.decode(bytes.subarray(at))}`) as string)
    : utf8.decode(bytes.subarray(at, at + maxIdBytes))

/** The same for a text. */
export const assetInText = (text: string): string | undefined => {
  // Most keys begin with another letter.
  const first = text.charCodeAt(0) | 0x20
  if (first > 0x61 && first <= 0x7a) return undefined
  const match = atStart.exec(text)
  return match ? text.slice(match[0].length) : undefined
}

const invisible = '[\\p{Cc}\\p{Cf}\\p{Z}]'
const scheme = 'asset:'
const atStart = new RegExp(`^[^\\p{L}\\p{N}]*${[...scheme].join(`${invisible}*`)}(?:${invisible}*/){0,2}`, 'iu')

/**
 * Found in any JSON text in which a string or a key begins so, unless it has `\\u` in it; and perhaps in others. From quote to quote, so that nothing is read twice. Only U+017F is
 * also a letter of the scheme.
 */
export const maybeAtStart = `"(?:[^A-Za-z0-9"\\\\]|\\\\[^u"])*${[...scheme].join('(?:[\\x00-\\x20\\x7f-\\uffff]|\\\\[bfnrt])*').replaceAll('s', '[s\\u017f]')}`

const letters = [...scheme].map((letter) => letter.charCodeAt(0))

const invisibleCharacter = new RegExp(`^${invisible}$`, 'u')
const isInvisible = (code: number): boolean =>
  code < 0x80 ? code <= 0x20 || code === 0x7f : invisibleCharacter.test(String.fromCodePoint(code))

/** Of each character that has been looked at: 1 for a sign, 2 for a letter or number. To ask the expression costs as much as to read a hundred characters. */
const characterClass = new Uint8Array(0x110000)
const symbol = /^[^\p{L}\p{N}]$/iu

const isSymbol = (code: number): boolean => {
  characterClass[code] ||= symbol.test(String.fromCodePoint(code)) ? 1 : 2
  return characterClass[code] === 1
}

const isLetterOrDigit = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a)

/** Anything of ASCII but letters, digits and the backslash. */
const isAsciiSymbol = (code: number): boolean => code < 0x80 && code !== 0x5c && !isLetterOrDigit(code)

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
