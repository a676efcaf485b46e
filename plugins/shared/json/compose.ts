import { bytesPerTurn, joinInTurns, nextTurn } from '../background/turns.ts'
import { decodeUtf8 } from '../text.ts'
import type { Changes } from './changes.ts'
import { eachPart, objectPieces, type Piece, PieceList } from './pieces.ts'
import { characterBoundary } from './tokens.ts'
import { ComposedJson, type Json } from './value.ts'

/** A value from pieces that form a valid JSON text together. */
export const composeJson = (pieces: readonly Piece[]): Json => new ComposedJson(pieces)

/** Members of an object by key. Undefined members are left out. */
export type Members = Readonly<Record<string, Json | undefined>>

/** An object of members. Their values keep their original text, so that no number loses digits. */
export const composeObject = (members: Members): Json => composeJson(objectPieces(Object.entries(members)))

/**
 * The same for an object that is looked up and edited before it is sent: that takes no parsing, however long its values
 * are.
 */
export const composeEditable = (members: Members): Json =>
  new ComposedObject(
    new Map(Object.entries(members).filter((member): member is [string, Json] => member[1] !== undefined)),
  )

/** An array of elements: JSON values, or their texts. */
export const composeArray = (elements: readonly Piece[]): Json => {
  const list = new PieceList()
  let start = '['
  for (const element of elements) {
    list.add(start)
    list.add(element)
    start = ','
  }
  list.add(start === '[' ? '[]' : ']')
  return composeJson(list.end())
}

/** The JSON of a JavaScript value. */
export const toJson = (value: unknown): Json => composeJson([JSON.stringify(value)])

/** An object of known members. It becomes a text when it is sent, or asked for anything but its members. */
class ComposedObject extends ComposedJson {
  readonly #members: ReadonlyMap<string, Json>

  constructor(members: ReadonlyMap<string, Json>) {
    super()
    this.#members = members
  }

  override get isObject(): boolean {
    return true
  }

  override get(key: string): Json | undefined {
    return this.#members.get(key)
  }

  override all(key: string): readonly Json[] {
    const value = this.#members.get(key)
    return value ? [value] : []
  }

  override keys(): readonly string[] {
    return [...this.#members.keys()]
  }

  override valuesOf(wanted: Changes<Json>): Map<string, readonly Json[]> {
    return new Map([...this.#members].flatMap(([key, value]) => (wanted.has(key) ? [[key, [value]]] : [])))
  }

  protected override edited(wanted: Changes<Json>): Json {
    const members = new Map(this.#members)
    for (const [key, value] of wanted) {
      if (value) members.set(key, value)
      else members.delete(key)
    }
    return new ComposedObject(members)
  }

  protected override compose(): readonly Piece[] {
    return objectPieces(this.#members)
  }
}

/** Bytes up to which a text is kept as a string: it takes less memory than as bytes, and there may be many. */
const maxShortBytes = 4_096

/** Bytes of a text that one step escapes. */
const bytesPerStep = 2 ** 16

/** One string of several. None is decoded. @param separator source text of JSON, without quotes */
export const joinStrings = (strings: readonly Json[], separator: string): Json => {
  const [first, ...more] = strings
  if (first && more.length === 0) return first
  return new ComposedJson([
    '"',
    ...strings.flatMap((text, index) => (index === 0 ? [contentOf(text)] : [separator, contentOf(text)])),
    '"',
  ])
}

/** The source of a string, without its quotes. */
const contentOf = (text: Json): Piece =>
  text.byteLength <= maxShortBytes ? text.raw.slice(1, -1) : text.bytes.subarray(1, -1)

/** A string that contains the text of a value. */
export const quoteJson = (json: Json): Json =>
  json.byteLength <= bytesPerStep ? new ComposedJson([JSON.stringify(json.raw)]) : quoteUtf8(json.bytes)

/** A string of a long text in UTF-8. It is escaped step by step, while the string is composed. */
export const quoteUtf8 = (bytes: Uint8Array): Json =>
  new ComposedJson(['"', { pieces: { [Symbol.iterator]: () => escaped(bytes) } }, '"'])

function* escaped(bytes: Uint8Array): Generator<string, void> {
  for (let start = 0; start < bytes.length; ) {
    const end = characterBoundary(bytes, start + bytesPerStep)
    yield JSON.stringify(decodeUtf8(bytes.subarray(start, end))).slice(1, -1)
    start = end
  }
}

/** The bytes of a value, composed over several turns of the event loop. */
export const composeInTurns = async (json: Json): Promise<Uint8Array<ArrayBuffer>> => {
  const parts: Uint8Array[] = []
  let length = 0
  let bytesLeft = bytesPerTurn
  let partsLeft = partsPerTurn
  for (const part of eachPart(json.pieces)) {
    parts.push(part)
    length += part.length
    // The bytes of the document are not copied yet: only texts are work.
    bytesLeft -= Math.min(part.length, maxTextBytes)
    if (bytesLeft > 0 && --partsLeft > 0) continue
    await nextTurn()
    bytesLeft = bytesPerTurn
    partsLeft = partsPerTurn
  }
  return joinInTurns(parts, length)
}

/** The text of a value, composed and decoded over several turns of the event loop. */
export const textInTurns = async (json: Json): Promise<string> => {
  const bytes = await composeInTurns(json)
  const texts: string[] = []
  for (let start = 0; start < bytes.length; ) {
    if (start > 0) await nextTurn()
    const end = characterBoundary(bytes, start + bytesPerTurn)
    texts.push(decodeUtf8(bytes.subarray(start, end)))
    start = end
  }
  return texts.join('')
}

/** Consecutive parts of a composed text in one turn: most of them have a text of some bytes before them. */
const partsPerTurn = 2_048

/** A longer part is one of a document. */
const maxTextBytes = 3 * 2 ** 16
