import { Buffer, isUtf8 } from 'node:buffer'
import { bytesPerTurn, nextTurn } from '../background/turns.ts'
import { JsonDocument } from './document.ts'
import { characterBoundary, invalid, JsonError } from './tokens.ts'
import { Json } from './value.ts'
import { JsonIndexer, type JsonLimits, limitsOf } from './value-index.ts'

export { bytesPerTurn, nextTurn, turns } from '../background/turns.ts'
export {
  composeArray,
  composeEditable,
  composeInTurns,
  composeJson,
  composeObject,
  joinStrings,
  type Members,
  quoteJson,
  quoteUtf8,
  textInTurns,
  toJson,
} from './compose.ts'
export { type Piece, partsOf, slicesOf } from './pieces.ts'
export { JsonStringReader } from './string-reader.ts'
export { characterBoundary, JsonError } from './tokens.ts'
export type { Json, MemberChange } from './value.ts'
export type { JsonLimits } from './value-index.ts'

/**
 * Parses JSON (RFC 8259) without loss: the result keeps the bytes, and looks values up in them.
 *
 * `JSON.parse` rounds numbers, drops duplicate keys and changes the order of some keys, so its result cannot be
 * forwarded. The bytes must not change afterwards. Throws JsonError for invalid UTF-8, for invalid JSON, and above a
 * limit.
 */
export const readJson = (source: Uint8Array | string, limits?: JsonLimits): Json => {
  const bytes = typeof source === 'string' ? Buffer.from(source) : source
  if (!isUtf8(bytes)) throw notUtf8()
  return readJsonUtf8(bytes, undefined, limits)
}

/** Like `readJson`, for bytes that are valid UTF-8. `text` is the decoded text, if the caller has it. */
export const readJsonUtf8 = (bytes: Uint8Array, text: string | undefined, limits?: JsonLimits): Json =>
  new Json(new JsonDocument(bytes, new JsonIndexer(bytes, limits).finish(), text))

/**
 * Parses JSON into JavaScript values, with the limits of `readJson`, in a quarter of its time.
 *
 * Numbers are rounded, and of duplicate keys only the last counts, so the result must not be forwarded. Throws
 * JsonError in the same cases as `readJson`.
 */
export const parseJson = (text: string, limits?: JsonLimits): unknown => {
  const { maxDepth, maxValues, maxKeyBytes } = limitsOf(limits)
  // A value takes at least a character and a comma, and a level a bracket: a text with few of them cannot exceed a
  // limit.
  const small = text.length < 2 * maxValues && 3 * text.length < maxKeyBytes && !opensMoreThan(text, maxDepth)
  if (!small) return readJson(text, limits).value()
  try {
    return JSON.parse(text)
  } catch {
    throw invalid()
  }
}

/**
 * Whether a text contains more than `max` opening brackets and braces. Few do, and only those need an exact check of
 * their nesting.
 */
export const opensMoreThan = (text: string, max: number): boolean => {
  let count = 0
  for (const sign of '{[') {
    for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + 1)) if (++count > max) return true
  }
  return false
}

/** Whether an object in a value has a key twice, at any depth: readers do not agree on which one counts. */
export const repeatsKey = (json: Json): boolean => {
  for (const object of json.objects()) {
    const keys = object.keys()
    if (new Set(keys).size < keys.length) return true
  }
  return false
}

/**
 * Like `readJson`, over several turns of the event loop. One turn takes a few milliseconds, for a document of any size.
 */
export const readJsonInTurns = async (bytes: Uint8Array, limits?: JsonLimits): Promise<Json> => {
  const indexer = new JsonIndexer(bytes, limits)
  let checked = 0
  for (;;) {
    // A turn with many values ends before `bytesPerTurn`.
    const end = characterBoundary(bytes, Math.max(checked, indexer.at + bytesPerTurn))
    if (!isUtf8(bytes.subarray(checked, end))) throw notUtf8()
    checked = end
    if (indexer.read(bytesPerTurn, entriesPerTurn)) break
    await nextTurn()
  }
  // The indexer may have read a little further than the UTF-8 check.
  if (!isUtf8(bytes.subarray(checked))) throw notUtf8()
  return new Json(new JsonDocument(bytes, indexer.finish()))
}

/** A text that comes from outside and is longer is parsed in turns: it may have as many values as any. */
export const maxBytesAtOnce = 2 ** 16

/** The same for keys and values. A request with fewer is handled at once. */
export const entriesPerTurn = 4_096

/** Whether work on a value takes several turns of the event loop: it has many bytes, or many keys and values. */
export const isLarge = (json: Json): boolean => json.byteLength > bytesPerTurn || json.entryCount > entriesPerTurn

/**
 * Limits on JSON responses of upstreams. They are high, because a response with the log probabilities of all tokens has
 * very many values.
 */
export const responseLimits: JsonLimits = { maxValues: 5_000_000, maxKeyBytes: 2 ** 26 }

const notUtf8 = () => new JsonError('not valid UTF-8')

/** The member; undefined when absent. `null` counts as absent: clients send it for optional members without a value. */
export const nonNullMember = (json: Json, key: string): Json | undefined => {
  const value = json.get(key)
  return value?.is('null') ? undefined : value
}
