/** A text that is not JSON, or JSON beyond the depth allowed. The message may be shown to a caller. */
export class JsonError extends Error {
  override name = 'JsonError'
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads JSON (RFC 8259) without losing a byte: `JSON.parse` rounds numbers, drops repeated keys and re-orders some, so what has to be
 * forwarded is kept as text, and what has to be known is looked up in it.
 *
 * Throws JsonError for invalid UTF-8, invalid JSON, and nesting deeper than `maxDepth` (default 64).
 */
export const readJson = (source: Uint8Array | string, maxDepth = 64): Json => {
  let text: string
  try {
    text = typeof source === 'string' ? source : utf8.decode(source)
  } catch (cause) {
    throw new JsonError('not valid UTF-8', { cause })
  }
  // Depth first: the engine's parser is allowed to see only what cannot exhaust its stack.
  if (depth(text, maxDepth) > maxDepth) throw new JsonError(`nested deeper than ${maxDepth} levels`)
  try {
    JSON.parse(text)
  } catch (cause) {
    throw new JsonError('not valid JSON', { cause })
  }
  return new Json(text.trim())
}

/** A member of an object, and where it stands in the object's text. */
export interface Member {
  readonly key: string
  readonly value: Json
  readonly start: number
  readonly end: number
}

/** A JSON value as it was written. Made by `readJson`; everything below relies on the text being valid. */
export class Json {
  /** The value's text, without surrounding white space. */
  readonly raw: string
  #members: readonly Member[] | undefined

  constructor(raw: string) {
    this.raw = raw
  }

  get isObject(): boolean {
    return this.raw.startsWith('{')
  }

  get isArray(): boolean {
    return this.raw.startsWith('[')
  }

  /** The value as JavaScript sees it; objects with their last repeated keys, numbers rounded. */
  value(): unknown {
    return JSON.parse(this.raw)
  }

  /** The string, when it is one. */
  string(): string | undefined {
    return this.raw.startsWith('"') ? (JSON.parse(this.raw) as string) : undefined
  }

  /** Members in their order, repeated ones too. None when it is not an object. */
  members(): readonly Member[] {
    this.#members ??= this.isObject ? splitMembers(this.raw) : []
    return this.#members
  }

  /** Value of the last member with exactly that key, as `JSON.parse` would choose. */
  get(key: string): Json | undefined {
    return this.members().findLast((member) => member.key === key)?.value
  }

  /** Elements of an array; none when it is not an array. */
  elements(): readonly Json[] {
    return this.isArray ? splitElements(this.raw) : []
  }

  /** Every object in it, itself first. */
  *objects(): Generator<Json> {
    if (this.isObject) yield this
    for (const { value } of this.members()) yield* value.objects()
    for (const element of this.elements()) yield* element.objects()
  }

  /** The same object without the members that `unwanted` names; itself when there are none. */
  without(unwanted: (key: string) => boolean): Json {
    const members = this.members()
    if (!members.some((member) => unwanted(member.key))) return this
    const kept = members.filter((member) => !unwanted(member.key))
    return new Json(`{${kept.map((member) => this.raw.slice(member.start, member.end)).join(',')}}`)
  }

  /** The same object with one value replaced, all members of that key by one, or added at the end. */
  with(key: string, value: Json): Json {
    const members = this.members()
    const last = members.findLast((member) => member.key === key)
    if (!last) {
      const pair = `${JSON.stringify(key)}:${value.raw}`
      return new Json(members.length === 0 ? `{${pair}}` : `${this.raw.slice(0, -1)},${pair}}`)
    }
    const written = members
      .filter((member) => member === last || member.key !== key)
      .map((member) =>
        member === last ? `${JSON.stringify(key)}:${value.raw}` : this.raw.slice(member.start, member.end),
      )
    return new Json(`{${written.join(',')}}`)
  }
}

/** The JSON of a JavaScript value. */
export const toJson = (value: unknown): Json => new Json(JSON.stringify(value))

const depth = (text: string, limit: number): number => {
  let open = 0
  let deepest = 0
  for (let at = 0; at < text.length && deepest <= limit; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at) - 1
    else if (code === brace || code === bracket) deepest = Math.max(deepest, ++open)
    else if (code === closeBrace || code === closeBracket) open--
  }
  return deepest
}

const quote = 0x22
const backslash = 0x5c
const brace = 0x7b
const closeBrace = 0x7d
const bracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c

/** Index behind the string that starts at `at`; the text's end when it is not closed. */
const endOfString = (text: string, at: number): number => {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return end + 1
  }
  return text.length
}

const afterSpace = (text: string, at: number): number => {
  let next = at
  // Only the four blanks of JSON can stand here: the text is valid.
  while (text.charCodeAt(next) <= 0x20) next++
  return next
}

/** Index behind the value that starts at `at`. */
const endOfValue = (text: string, at: number): number => {
  const first = text.charCodeAt(at)
  if (first === quote) return endOfString(text, at)
  let next = at
  if (first !== brace && first !== bracket) {
    while (next < text.length && !isDelimiter(text.charCodeAt(next))) next++
    return next
  }
  let open = 0
  do {
    const code = text.charCodeAt(next)
    if (code === quote) {
      next = endOfString(text, next)
      continue
    }
    if (code === brace || code === bracket) open++
    else if (code === closeBrace || code === closeBracket) open--
    next++
  } while (open > 0)
  return next
}

const isDelimiter = (code: number): boolean =>
  code === comma || code === closeBrace || code === closeBracket || code <= 0x20

const splitMembers = (text: string): Member[] => {
  const members: Member[] = []
  let at = afterSpace(text, 1)
  while (text.charCodeAt(at) !== closeBrace) {
    const start = at
    const keyEnd = endOfString(text, at)
    const colon = afterSpace(text, keyEnd)
    const from = afterSpace(text, colon + 1)
    const end = endOfValue(text, from)
    members.push({
      key: JSON.parse(text.slice(start, keyEnd)) as string,
      value: new Json(text.slice(from, end)),
      start,
      end,
    })
    at = afterSpace(text, end)
    if (text.charCodeAt(at) === comma) at = afterSpace(text, at + 1)
  }
  return members
}

const splitElements = (text: string): Json[] => {
  const elements: Json[] = []
  let at = afterSpace(text, 1)
  while (text.charCodeAt(at) !== closeBracket) {
    const end = endOfValue(text, at)
    elements.push(new Json(text.slice(at, end)))
    at = afterSpace(text, end)
    if (text.charCodeAt(at) === comma) at = afterSpace(text, at + 1)
  }
  return elements
}
