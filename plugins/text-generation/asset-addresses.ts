import type { Json } from '../shared/json.ts'
import { TextProblem } from './problem.ts'

/** An asset that a request names, and where. */
export interface AssetAddress {
  /**
   * What follows `asset://`, `asset:/` or `asset:`, as it stands. Often it cannot be an id (empty, with a path, a query, an escape): then it is nobody's
   * asset.
   */
  readonly id: string
  /** For example `messages[0].content[1].image_url.url`. */
  readonly param: string
}

/** Each different address costs a question about its owner. */
const mostAddresses = 1000

/**
 * The asset addresses in a chat or responses request, each id once (reading 43). An upstream may know more blocks and fields than any list here, so
 * every string and every key that begins with `asset:` is an address, wherever it stands, unless it is plain text for the model or for the books:
 *
 * - a string that is the value of `text`, `content`, `input`, `output`, `instructions`, `arguments`, `refusal`, `reasoning`, `reasoning_content`, `thinking`,
 *   `description`, `name` or `title`;
 * - anything in the outermost `metadata`, `stop`, `user`, `prompt_cache_key` and `safety_identifier`;
 * - in the JSON schemas of tools and answer formats: property names, and anything in `enum`, `const`, `default`, `example`, `examples` and `pattern`.
 *
 * The first exception does not hold where media are expected: below a key that ends in `url`, `image`, `video`, `audio`, `frame`, `file` or their like, and in an
 * object one of whose types (`type`, `content_type`) ends so or is a media type; its `param` is then the object's. Below such a key an address also counts in
 * the midst of a string, behind a separator, where that is not one for text.
 *
 * An address is not hidden by letter case, by JSON's escapes, by signs in front of it, by white space or control characters within the scheme, or by a
 * key that stands twice.
 *
 * Throws TextProblem 400 beyond 1000 different ids.
 */
export const assetAddresses = (request: Json): readonly AssetAddress[] =>
  suspicious.test(request.raw) ? search(request.raw) : []

const unseen = '[\\p{Cc}\\p{Cf}\\p{Z}]'
const letters = [...'asset:']
const address = `${letters.join(`${unseen}*`)}(?:${unseen}*/){0,2}`

/** In JSON's own text: the scheme, or escapes that might become it. */
const suspicious = new RegExp(`\\\\u|${letters.join(`(?:${unseen}|\\\\[bfnrt])*`)}`, 'iu')
const atStart = new RegExp(`^[^\\p{L}\\p{N}]*${address}`, 'iu')
const inMidst = new RegExp(`(?:${unseen}|[,;|:('"<[{])${address}(?<=/)`, 'iu')

/**
 * What its place says of a string: in `words` it is no address, in `media` it is one under any key, elsewhere unless its key is one for text. The
 * others are steps on the way to a JSON schema.
 */
type Place = 'request' | 'items' | 'answer' | 'definitions' | 'schema' | 'open' | 'media' | 'words'

const steps: Readonly<Partial<Record<Place, ReadonlyMap<string, Place>>>> = {
  request: new Map<string, Place>([
    ['tools', 'definitions'],
    ['functions', 'definitions'],
    ['response_format', 'definitions'],
    ['text', 'answer'],
    ['input', 'items'],
    ['metadata', 'words'],
    ['stop', 'words'],
    ['user', 'words'],
    ['prompt_cache_key', 'words'],
    ['safety_identifier', 'words'],
  ]),
  answer: new Map([['format', 'definitions']]),
  items: new Map([['tools', 'definitions']]),
  definitions: new Map(['parameters', 'schema', 'input_schema'].map((key) => [key, 'schema'])),
  schema: new Map(['enum', 'const', 'default', 'example', 'examples', 'pattern'].map((key) => [key, 'words'])),
}

/** Places that everything below shares. */
const lasting: ReadonlySet<Place> = new Set(['definitions', 'schema', 'media', 'words'])

const textKeys: ReadonlySet<string> = new Set([
  ...['text', 'content', 'input', 'output', 'instructions', 'arguments', 'refusal'],
  ...['reasoning', 'reasoning_content', 'thinking', 'description', 'name', 'title'],
])

const forMedia = /(?:ur[il]|image|video|audio|frame|file|media|photo|picture|screenshot|mask|asset)s?$/i

/** A `type` of media by its name, or a media type (RFC 6838). */
const mediaType = new RegExp(`${forMedia.source}|^(?:image|video|audio)/`, 'i')

const placeBelow = (place: Place, key: string): Place => {
  const step = steps[place]?.get(key)
  if (step) return step
  if (place !== 'schema' && place !== 'words' && forMedia.test(key)) return 'media'
  return lasting.has(place) ? place : 'open'
}

/** An object or array around the place looked at, and which of its members that is in. */
interface Around {
  readonly outer: Around | undefined
  at: string | number
}

const pathOf = ({ outer, at }: Around): string => {
  const step = typeof at === 'number' ? `[${at}]` : at
  if (!outer) return step
  return typeof at === 'number' ? pathOf(outer) + step : `${pathOf(outer)}.${step}`
}

/**
 * One pass over the text, which has to be valid JSON. Views of it would be cut anew on every level, so that depth multiplies the cost, and `JSON.parse`
 * drops keys that stand twice.
 */
const search = (text: string): AssetAddress[] => {
  let at = 0
  const found = new Map<string, string>()
  /** Where there are texts that look like an address: whether the object around them holds media is certain only at its end. */
  const spared: number[] = []

  const next = (): string => {
    while (text.charCodeAt(at) <= 0x20) at++
    return text.charAt(at)
  }

  /** The string that starts at `start`, decoded. */
  const stringAt = (start: number): string => {
    const raw = text.slice(start, endOfString(text, start))
    return raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1)
  }

  const idAt = (start: number, midst = false): string | undefined => {
    if (!suspicious.test(text.slice(start, endOfString(text, start)))) return undefined
    const string = stringAt(start)
    const match = atStart.exec(string) ?? (midst && !/^\s*data:/i.test(string) ? inMidst.exec(string) : null)
    return match ? string.slice(match.index + match[0].length) : undefined
  }

  const keep = (id: string | undefined, where: Around): void => {
    if (id === undefined || found.has(id)) return
    const param = pathOf(where)
    if (found.size === mostAddresses)
      throw new TextProblem(400, `request names more than ${mostAddresses} assets`, { param })
    found.set(id, param)
  }

  const value = (place: Place, outer: Around | undefined): void => {
    const first = next()
    if (first === '{') object(place, { outer, at: '' })
    else if (first === '[') array(place, { outer, at: 0 })
    else if (first === '"') {
      if (outer && place !== 'words') string(place, outer)
      at = endOfString(text, at)
    } else while (!delimiters.has(text.charAt(at))) at++
  }

  const string = (place: Place, where: Around): void => {
    const isText = textKeys.has(String(where.at))
    if (place === 'media' || !isText) keep(idAt(at, place === 'media' && !isText), where)
    else if (idAt(at) !== undefined) spared.push(at)
  }

  const object = (place: Place, around: Around): void => {
    const before = spared.length
    let isMedia = false
    at++
    while (next() !== '}') {
      const key = stringAt(at)
      around.at = key
      if (place !== 'words' && place !== 'schema') keep(idAt(at), around)
      at = endOfString(text, at)
      next()
      at++
      if (next() === '"' && mayBeMedia.has(place) && /type$/i.test(key)) isMedia ||= mediaType.test(stringAt(at))
      value(placeBelow(place, key), around)
      if (next() === ',') at++
    }
    at++
    if (!isMedia || !around.outer) return
    for (const start of spared.splice(before)) keep(idAt(start), around.outer)
  }

  const array = (place: Place, around: Around & { at: number }): void => {
    at++
    while (next() !== ']') {
      value(place, around)
      around.at++
      if (next() === ',') at++
    }
    at++
  }

  value('request', undefined)
  return [...found].map(([id, param]) => ({ id, param }))
}

const mayBeMedia: ReadonlySet<Place> = new Set(['items', 'open'])

const delimiters: ReadonlySet<string> = new Set([',', ']', '}', ' ', '\t', '\n', '\r', ''])

/** Index behind the string that starts at `start`. */
const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1)
  while (text.charCodeAt(end - 1) === backslash && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end + 1
}

const backslash = 0x5c

const isEscaped = (text: string, at: number): boolean => {
  let slashes = 0
  while (text.charCodeAt(at - 1 - slashes) === backslash) slashes++
  return slashes % 2 === 1
}
