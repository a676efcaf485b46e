/** One member of a JSON object, with its original text. */
export interface Member {
  /** the key, unescaped */
  readonly name: string
  /** original text of key, colon and value */
  readonly raw: string
  /** original text of the value */
  readonly value: string
}

const space = /\s/

/**
 * Splits the text of a JSON object into its members without parsing their values. So `12345678901234567890`, `1.0`,
 * duplicate keys and the order of keys are preserved. `undefined` when the text is not JSON or not an object.
 */
export const membersOf = (text: string): Member[] | undefined => {
  if (!isObject(text)) return undefined
  const members: Member[] = []
  let at = text.indexOf('{') + 1
  for (;;) {
    at = skipSpace(text, at)
    if (text[at] === '}') return members
    const from = at
    at = endOfString(text, at)
    const name: unknown = JSON.parse(text.slice(from, at))
    const valueAt = skipSpace(text, skipSpace(text, at) + 1)
    at = endOfValue(text, valueAt)
    members.push({ name: String(name), raw: text.slice(from, at), value: text.slice(valueAt, at) })
    at = skipSpace(text, at)
    if (text[at] === ',') at++
  }
}

/** Serializes one member of a JSON object. */
export const field = (name: string, value: unknown): { readonly raw: string } => ({
  raw: `"${name}":${JSON.stringify(value)}`,
})

/** Joins the texts of members to the text of a JSON object. */
export const objectOf = (members: readonly { readonly raw: string }[]): string =>
  `{${members.map((member) => member.raw).join(',')}}`

// the functions below can rely on valid JSON, because JSON.parse has accepted the text
const isObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

const skipSpace = (text: string, at: number): number => {
  while (space.test(text[at] ?? '')) at++
  return at
}

const endOfString = (text: string, at: number): number => {
  for (let end = at + 1; ; end++) {
    if (text[end] === '\\') end++
    else if (text[end] === '"') return end + 1
  }
}

const endOfValue = (text: string, at: number): number => {
  let depth = 0
  for (let end = at; ; end++) {
    const character = text[end]
    if (character === '"') {
      end = endOfString(text, end) - 1
    } else if (character === '{' || character === '[') {
      depth++
    } else if (character === '}' || character === ']') {
      if (depth === 0) return end
      depth--
    } else if (depth === 0 && (character === ',' || space.test(character ?? ''))) {
      return end
    } else {
      continue
    }
    if (depth === 0) return end + 1
  }
}
