/** Whether something that is to be shown to a caller holds a credential. */
export type Reveals = (...parts: readonly (Uint8Array | string | Headers)[]) => boolean

/** What is shorter may as well be a word of a text. */
const shortest = 8

/**
 * Looks for credentials as they are, and as JSON, addresses, HTML and base64 disguise them: `\uXXXX` and `\/`, `%XX`, `&#XX;`, and base64 in both alphabets, wherever in a
 * longer text it begins. Parts are looked at one by one, of headers their values. Made once for each upstream.
 */
export const findCredentials = (secrets: readonly (string | undefined)[]): Reveals => {
  const known = secrets.filter((secret) => secret !== undefined).filter((secret) => secret.length >= shortest)
  if (known.length === 0) return () => false
  // All forms in one search: it costs a quarter of one search each.
  const plain = new RegExp(formsOf(known).map(literal).join('|'))
  const escaped = new RegExp(known.map(anyEscape).join('|'))
  const simple = known.every((secret) => Buffer.byteLength(secret) === secret.length)
  const holds = (part: Uint8Array | string): boolean => {
    // Where the secrets are ASCII, text is searched as it is.
    const text = simple && typeof part === 'string' ? part : latin1(part)
    const flat = text.includes('\\/') ? text.replaceAll('\\/', '/') : text
    return (
      plain.test(flat) || ((text.includes('\\') || text.includes('%') || text.includes('&#')) && escaped.test(flat))
    )
  }
  const reveals = (part: Uint8Array | string | Headers): boolean =>
    typeof part !== 'string' && part instanceof Headers ? valuesOf(part).some(holds) : holds(part)
  return (...parts) => parts.some(reveals)
}

/** Their own iterator costs ten times as much. */
const valuesOf = (headers: Headers): readonly string[] => {
  const values: string[] = []
  headers.forEach((value) => {
    values.push(value)
  })
  return values
}

const formsOf = (secrets: readonly string[]): readonly string[] => [
  ...new Set(secrets.flatMap((secret) => [latin1(secret), ...inBase64(secret)])),
]

const literal = (text: string): string => text.replace(/[^A-Za-z0-9]/g, (sign) => `\\x${hex(sign.charCodeAt(0))}`)

/** One character a byte, which is cheap to make and to search. */
const latin1 = (part: Uint8Array | string): string =>
  (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part.buffer, part.byteOffset, part.length)).toString(
    'latin1',
  )

/** What all texts have in common whose base64 holds the secret: one for each place in a group of three bytes, less what its neighbours have a part in. */
const inBase64 = (secret: string): readonly string[] =>
  [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    const common = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)]
    return (['base64', 'base64url'] as const).map((alphabet) => bytes.toString(alphabet).slice(...common))
  })

/** Each character as it is or escaped, also where JSON stands in a string of other JSON. */
const anyEscape = (secret: string): string =>
  Array.from(secret, (character) => {
    const bytes = [...Buffer.from(character)]
    const raw = bytes.map((byte) => `\\x${hex(byte)}`).join('')
    const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    const json = units.map((unit) => `u${anyCase(hex(unit, 4))}`).join('\\\\{1,4}')
    const percent = bytes.map((byte) => `%(?:25)?${anyCase(hex(byte))}`).join('')
    const entity = `&#(?:0{0,6}${character.codePointAt(0)}|[xX]0{0,6}${anyCase(hex(character.codePointAt(0) ?? 0))});`
    return `(?:${raw}|\\\\{1,4}(?:${json}|${raw})|${percent}|${entity})`
  }).join('')

const hex = (value: number, digits = 2): string => value.toString(16).padStart(digits, '0')

const anyCase = (digits: string): string => digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
