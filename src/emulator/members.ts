/** One member of a JSON object, with its text as it was sent. */
export interface Member {
  /** the key, unescaped */
  readonly name: string
  /** key, colon and value, byte for byte */
  readonly raw: string
  /** the value alone, byte for byte */
  readonly value: string
}

const SPACE = /\s/

/**
 * Splits the text of a JSON object into its members without reading their values, so that `12345678901234567890`, `1.0`,
 * doubled keys and the order of keys survive. `undefined` when the text is not JSON or not an object.
 */
export function membersOf(text: string): Member[] | undefined {
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

/** The text of a JSON object made of the raw texts of members. */
export function objectOf(members: readonly { readonly raw: string }[]): string {
  return `{${members.map((member) => member.raw).join(',')}}`
}

// everything below may trust the text, because a real parser has accepted it
function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

function skipSpace(text: string, at: number): number {
  while (SPACE.test(text[at] ?? '')) at++
  return at
}

function endOfString(text: string, at: number): number {
  for (let end = at + 1; ; end++) {
    if (text[end] === '\\') end++
    else if (text[end] === '"') return end + 1
  }
}

function endOfValue(text: string, at: number): number {
  let depth = 0
  for (let end = at; ; end++) {
    const sign = text[end]
    if (sign === '"') {
      end = endOfString(text, end) - 1
    } else if (sign === '{' || sign === '[') {
      depth++
    } else if (sign === '}' || sign === ']') {
      if (depth === 0) return end
      depth--
    } else if (depth === 0 && (sign === ',' || SPACE.test(sign ?? ''))) {
      return end
    } else {
      continue
    }
    if (depth === 0) return end + 1
  }
}
