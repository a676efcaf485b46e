/**
 * The text is not valid JSON or exceeds a limit. The message follows “request body is”, and may be shown to a caller.
 */
export class JsonError extends Error {
  override name = 'JsonError'
}

/** The error for a syntax error. */
export const invalid = (): JsonError => new JsonError('not valid JSON')

export const quote = 0x22
export const backslash = 0x5c
export const colon = 0x3a
export const comma = 0x2c
const minus = 0x2d
export const closingBracket = 0x5d
export const closingBrace = 0x7d
export const bracket = 0x5b
export const brace = 0x7b

/** 1 for each ASCII byte that needs no escape in a string. */
export const plain = new Uint8Array(256)
plain.fill(1, 0x20, 0x80)
plain[quote] = plain[backslash] = 0

/** Whether a byte is JSON white space. */
export const isSpace = (code: number): boolean =>
  code <= 0x20 && (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09)

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** Whether a value that starts with this byte is a number. */
export const isNumeric = (code: number): boolean => code === minus || isDigit(code)

const endOfDigits = (bytes: Uint8Array, start: number): number => {
  let at = start
  while (isDigit(bytes[at] as number)) at++
  if (at === start) throw invalid()
  return at
}

/** Position after a number. Throws JsonError if it is invalid. */
export const endOfNumber = (bytes: Uint8Array, start: number): number => {
  let at = bytes[start] === minus ? start + 1 : start
  at = bytes[at] === 0x30 ? at + 1 : endOfDigits(bytes, at)
  if (bytes[at] === 0x2e) at = endOfDigits(bytes, at + 1)
  // `e` or `E`, and an optional sign.
  if (((bytes[at] as number) | 0x20) === 0x65) {
    const sign = bytes[at + 1]
    at = endOfDigits(bytes, sign === minus || sign === 0x2b ? at + 2 : at + 1)
  }
  return at
}

const words = ['true', 'false', 'null'].map((word) => [...word].map((letter) => letter.charCodeAt(0)))

/** Position after `true`, `false` or `null`. Throws JsonError if it is something else. */
export const endOfWord = (bytes: Uint8Array, start: number): number => {
  const word = words.find(([first]) => first === bytes[start])
  if (!word?.every((code, nth) => code === bytes[start + nth])) throw invalid()
  return start + word.length
}

/** 1 for each byte that may follow a backslash, except `u`. */
const escapes = new Uint8Array(256)
for (const letter of '"\\/bfnrt') escapes[letter.charCodeAt(0)] = 1

/** Position after an escape sequence that starts at `at`. Throws JsonError if it is invalid. */
export const endOfEscape = (bytes: Uint8Array, at: number): number => {
  const code = bytes[at + 1] as number
  if (escapes[code] === 1) return at + 2
  if (code !== 0x75) throw invalid()
  for (let nth = 2; nth < 6; nth++) {
    const digit = bytes[at + nth] as number
    const letter = digit | 0x20
    if (!isDigit(digit) && !(letter >= 0x61 && letter <= 0x66)) throw invalid()
  }
  return at + 6
}

/**
 * Returns `position`, or the start of the character that contains it (RFC 3629, section 3); at most the length of the
 * bytes.
 */
export const characterBoundary = (bytes: Uint8Array, position: number): number => {
  let end = Math.min(position, bytes.length)
  while (end > position - 4 && end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end--
  return end
}
