/** Whether parts of a response contain a credential. */
export type ContainsCredential = (...parts: readonly (Uint8Array | string | Headers)[]) => boolean

/** A shorter secret is not searched: it may occur as a word in any text. */
const minLength = 8

/**
 * Compiles a search for credentials in responses. Call it once for each upstream.
 *
 * It finds a secret as plain text; escaped as in JSON (`\uXXXX`, `\/`), URLs (`%XX`) and HTML (`&#XX;`); and in base64
 * of both alphabets, at any offset in a longer text. It searches each part separately; of headers, the values.
 */
export const createCredentialSearch = (secrets: readonly (string | undefined)[]): ContainsCredential => {
  const longEnough = secrets.filter((secret) => secret !== undefined).filter((secret) => secret.length >= minLength)
  if (longEnough.length === 0) return () => false
  // One search for all forms costs a quarter of one search for each form.
  const plain = new RegExp(formsOf(longEnough).map(escapeRegExp).join('|'))
  const escaped = new RegExp(longEnough.map(anyEscapeOf).join('|'))
  const asciiOnly = longEnough.every((secret) => Buffer.byteLength(secret) === secret.length)
  const holds = (part: Uint8Array | string): boolean => {
    // ASCII secrets can be searched in the text itself, without a conversion to bytes.
    const text = asciiOnly && typeof part === 'string' ? part : latin1(part)
    const withoutEscapedSlashes = text.includes('\\/') ? text.replaceAll('\\/', '/') : text
    return (
      plain.test(withoutEscapedSlashes) ||
      ((text.includes('\\') || text.includes('%') || text.includes('&#')) && escaped.test(withoutEscapedSlashes))
    )
  }
  const reveals = (part: Uint8Array | string | Headers): boolean =>
    holds(part instanceof Headers ? valuesOf(part) : part)
  return (...parts) => parts.some(reveals)
}

/** One a line: no value holds a line break, and one search costs less than one for each. */
const valuesOf = (headers: Headers): string => {
  let values = ''
  headers.forEach((value) => {
    values += `${value}\n`
  })
  return values
}

const formsOf = (secrets: readonly string[]): readonly string[] => [
  ...new Set(secrets.flatMap((secret) => [latin1(secret), ...base64FormsOf(secret)])),
]

const escapeRegExp = (text: string): string => text.replace(/[^A-Za-z0-9]/g, (sign) => `\\x${hex(sign.charCodeAt(0))}`)

/** The bytes as one character each, which is cheap to create and to search. */
const latin1 = (part: Uint8Array | string): string =>
  (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part.buffer, part.byteOffset, part.length)).toString(
    'latin1',
  )

/**
 * The parts of base64 that do not depend on the text around the secret: one for each offset in a group of three bytes,
 * without the characters that also encode neighbouring bytes.
 */
const base64FormsOf = (secret: string): readonly string[] =>
  [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    const common = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)]
    return (['base64', 'base64url'] as const).map((alphabet) => bytes.toString(alphabet).slice(...common))
  })

/**
 * A pattern for the secret in which each character may be plain or escaped, also in JSON within up to four strings of
 * JSON.
 */
const anyEscapeOf = (secret: string): string =>
  Array.from(secret, (character) => {
    const bytes = [...Buffer.from(character)]
    const raw = bytes.map((byte) => `\\x${hex(byte)}`).join('')
    const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    const json = units.map((unit) => `u${anyCase(hex(unit, 4))}`).join('\\\\{1,16}')
    const percent = bytes.map((byte) => `%(?:25)?${anyCase(hex(byte))}`).join('')
    const entity = `&#(?:0{0,6}${character.codePointAt(0)}|[xX]0{0,6}${anyCase(hex(character.codePointAt(0) ?? 0))});`
    return `(?:${raw}|\\\\{1,16}(?:${json}|${raw})|${percent}|${entity})`
  }).join('')

const hex = (value: number, digits = 2): string => value.toString(16).padStart(digits, '0')

const anyCase = (digits: string): string => digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
