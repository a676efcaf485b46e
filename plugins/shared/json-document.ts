import { Buffer } from 'node:buffer'
import { hasEscapes, JsonIndexer, stride } from './json-index.ts'
import { JsonStringReader } from './json-string-reader.ts'
import { brace, bracket } from './json-tokens.ts'

const unlimited = { maxDepth: Infinity, maxValues: Infinity, maxKeyBytes: Infinity }
const maxText = 2 ** 20
const maxDecoded = 4_096

/** The bytes of a document, and where everything stands in them. A place is one in the index. */
export class JsonDocument {
  readonly bytes: Uint8Array
  #index: Int32Array | undefined
  #buffer: Buffer | undefined
  #text: string | undefined

  /**
   * @param index made when somebody looks into the document, where it is not there: most of what is put together here is only sent
   * @param text likewise
   */
  constructor(bytes: Uint8Array, index?: Int32Array, text?: string) {
    this.bytes = bytes
    this.#index = index
    this.#text = text
  }

  get index(): Int32Array {
    this.#index ??= new JsonIndexer(this.bytes, unlimited).finish()
    return this.#index
  }

  start(place: number): number {
    return this.index[place] as number
  }

  end(place: number): number {
    return this.index[place + 1] as number
  }

  /** The byte that what stands there begins with. */
  first(place: number): number {
    return this.bytes[this.index[place] as number] as number
  }

  /** The place behind a value and all that it holds. */
  behind(place: number): number {
    const first = this.first(place)
    return first === brace || first === bracket ? (this.index[place + 2] as number) : place + stride
  }

  text(start: number, end: number): string {
    const { bytes } = this
    // To cut a string is ten times cheaper than to decode bytes. In a text of as many characters as bytes, everything stands at the same place.
    this.#text ??= bytes.length <= maxText ? this.#decoded(0, bytes.length) : ''
    return this.#text.length === bytes.length ? this.#text.slice(start, end) : this.#decoded(start, end)
  }

  #decoded(start: number, end: number): string {
    const { bytes } = this
    this.#buffer ??= Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    return this.#buffer.toString('utf8', start, end)
  }

  /** A string or a key as JavaScript sees it. */
  string(place: number): string {
    const [start, end] = [this.start(place), this.end(place)]
    const plain = ((this.index[place + 2] as number) & hasEscapes) === 0
    return plain ? this.text(start + 1, end - 1) : (JSON.parse(this.text(start, end)) as string)
  }

  /** The keys of an object; none when it is something else. */
  keys(place: number): number[] {
    const keys: number[] = []
    if (this.first(place) !== brace) return keys
    const last = this.behind(place)
    for (let at = place + stride; at < last; at = this.behind(at + stride)) keys.push(at)
    return keys
  }

  /** The elements of an array; none when it is something else. */
  elements(place: number): number[] {
    const elements: number[] = []
    if (this.first(place) !== bracket) return elements
    const last = this.behind(place)
    for (let at = place + stride; at < last; at = this.behind(at)) elements.push(at)
    return elements
  }

  /** Whether a key is that one. Costs what the shorter of the two is long. */
  isKey(place: number, key: string): boolean {
    const start = this.start(place) + 1
    const length = this.end(place) - 1 - start
    // A character is written in at most six bytes.
    if (this.index[place + 2] !== 0) return length <= 6 * key.length && this.#says(start, start + length, key)
    if (length !== key.length) return false
    for (let nth = 0; nth < length; nth++) if (this.bytes[start + nth] !== key.charCodeAt(nth)) return false
    return true
  }

  /** The same for a key with escapes or letters beyond ASCII, without decoding all of it: there may be many, and each is asked for several keys. */
  #says(start: number, end: number, key: string): boolean {
    const text = new JsonStringReader(this.bytes, start, end)
    for (const character of key) if (text.next() !== character.codePointAt(0)) return false
    return text.next() === -1
  }

  /** A part of the text to put into another: a short one, of which there may be many, decoded; a long one as it is. */
  piece(start: number, end: number): string | Uint8Array {
    return end - start <= maxDecoded ? this.text(start, end) : this.bytes.subarray(start, end)
  }
}
