import { Buffer, isUtf8 } from 'node:buffer'
import { setImmediate } from 'node:timers/promises'
import { JsonDocument } from './json-document.ts'
import { JsonIndexer, type JsonLimits, limitsOf } from './json-index.ts'
import { type Piece, partsOf } from './json-pieces.ts'
import { invalid, JsonError } from './json-tokens.ts'
import { ComposedJson, Json } from './json-value.ts'

export type { JsonLimits } from './json-index.ts'
export type { Piece } from './json-pieces.ts'
export { JsonStringReader } from './json-string-reader.ts'
export { JsonError } from './json-tokens.ts'
export type { Json, Member, MemberChange } from './json-value.ts'

/**
 * Reads JSON (RFC 8259) without losing a byte: `JSON.parse` rounds numbers, drops repeated keys and re-orders some, so what has to be
 * forwarded is kept as bytes, which must not be changed any more, and what has to be known is looked up in them.
 *
 * Throws JsonError for invalid UTF-8, invalid JSON, and beyond the limits.
 */
export const readJson = (source: Uint8Array | string, limits?: JsonLimits): Json => {
  const bytes = typeof source === 'string' ? Buffer.from(source) : source
  if (!isUtf8(bytes)) throw notUtf8()
  return readUtf8(bytes, undefined, limits)
}

/** The same of bytes that are UTF-8, and perhaps were decoded already. */
export const readUtf8 = (bytes: Uint8Array, text: string | undefined, limits?: JsonLimits): Json =>
  new Json(new JsonDocument(bytes, new JsonIndexer(bytes, limits).finish(), text))

/**
 * What `readJson` reads, as JavaScript sees it: numbers rounded, of repeated keys the last one. To look into, in a quarter of the time; not to be sent on. Throws
 * JsonError for what `readJson` throws it for.
 */
export const parseJson = (text: string, limits?: JsonLimits): unknown => {
  const { maxDepth, maxValues, maxKeyBytes } = limitsOf(limits)
  // A value takes a character and a comma, a level a bracket: what has few of them need not be counted.
  const small = text.length < 2 * maxValues && 3 * text.length < maxKeyBytes && !holdsMore(text, maxDepth)
  if (!small) return readJson(text, limits).value()
  try {
    return JSON.parse(text)
  } catch {
    throw invalid()
  }
}

/** An object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>

/** The value, if it is an object; undefined for anything else. */
export const asJsonObject = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined

/** Whether there are more than so many brackets and braces that open. */
const holdsMore = (text: string, most: number): boolean => {
  let count = 0
  for (const sign of '{[') {
    for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + 1)) if (++count > most) return true
  }
  return false
}

/** The same, in turns with whatever else the process has to do: one turn takes some milliseconds, however large the document. */
export const readJsonInTurns = async (bytes: Uint8Array, limits?: JsonLimits): Promise<Json> => {
  const indexing = new JsonIndexer(bytes, limits)
  let checked = 0
  for (;;) {
    const end = endOfCharacter(bytes, checked + bytesInTurn)
    if (!isUtf8(bytes.subarray(checked, end))) throw notUtf8()
    checked = end
    if (indexing.read(bytesInTurn)) break
    await nextTurn()
  }
  // What is read ends where what is checked ends, or somewhat behind it.
  if (!isUtf8(bytes.subarray(checked))) throw notUtf8()
  return new Json(new JsonDocument(bytes, indexing.finish()))
}

/** Bytes of a value, put together in turns likewise. */
export const composeInTurns = async (json: Json): Promise<Uint8Array> => {
  const parts = partsOf(json.pieces)
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  let left = bytesInTurn
  for (const part of parts) {
    for (let from = 0; from < part.length; ) {
      if (left === 0) {
        await nextTurn()
        left = bytesInTurn
      }
      const piece = part.subarray(from, from + left)
      bytes.set(piece, at)
      at += piece.length
      from += piece.length
      left -= piece.length
    }
  }
  return bytes
}

/** Lets the process do whatever else is waiting: for between two steps of work on a body of more than `bytesInTurn`. */
export const nextTurn = async (): Promise<void> => {
  turns.count++
  await setImmediate()
}

/** Bytes that are read, or put together, in one turn: a body that is no larger is read at once. */
export const bytesInTurn = 2 ** 20

/** Turns that were taken since the process began: by these, and not by time, tests tell that nothing is held up. */
export const turns = { count: 0 }

/** What the answers of upstreams may be made of: a list of a hundred items is long, an answer with the probabilities of all its words much longer. */
export const answerLimits: JsonLimits = { maxValues: 5_000_000, maxKeyBytes: 2 ** 26 }

const notUtf8 = () => new JsonError('not valid UTF-8')

/** The place, or the beginning of the character (RFC 3629, section 3) that it is within. */
const endOfCharacter = (bytes: Uint8Array, place: number): number => {
  let end = Math.min(place, bytes.length)
  while (end > place - 4 && end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end--
  return end
}

/** Pieces of a valid text as one value. */
export const composeJson = (pieces: readonly Piece[]): Json => new ComposedJson(pieces)

/** The JSON of a JavaScript value. */
export const toJson = (value: unknown): Json => composeJson([JSON.stringify(value)])
