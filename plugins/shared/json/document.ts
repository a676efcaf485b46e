import { Buffer } from 'node:buffer'
import { JsonStringReader } from './string-reader.ts'
import { brace, bracket } from './tokens.ts'
import { hasEscapes, JsonIndexer, type JsonLimits, stride } from './value-index.ts'

export const noLimits: JsonLimits = { maxDepth: Infinity, maxValues: Infinity, maxKeyBytes: Infinity }
const maxTextBytes = 2 ** 20
const maxDecodedPieceBytes = 4_096

/**
 * The bytes of a JSON document, and the index of its keys and values.
 *
 * A parameter `entry` is the offset of an entry in the index: see `stride`.
 */
export class JsonDocument {
  readonly bytes: Uint8Array
  #index: Int32Array | undefined
  #buffer: Buffer | undefined
  #text: string | undefined

  /**
   * @param index Default: created at the first lookup, because most composed documents are only sent
   * @param text the decoded bytes. Default: decoded at the first lookup
   */
  constructor(bytes: Uint8Array, index?: Int32Array, text?: string) {
    this.bytes = bytes
    this.#index = index
    this.#text = text
  }

  get index(): Int32Array {
    this.#index ??= new JsonIndexer(this.bytes, noLimits).finish()
    return this.#index
  }

  start(entry: number): number {
    return this.index[entry] as number
  }

  end(entry: number): number {
    return this.index[entry + 1] as number
  }

  /** The first byte of a key or value. */
  first(entry: number): number {
    return this.bytes[this.index[entry] as number] as number
  }

  /** The entry after a value and its content. */
  entryAfter(entry: number): number {
    const first = this.first(entry)
    return first === brace || first === bracket ? (this.index[entry + 2] as number) : entry + stride
  }

  /** Whether all bytes are known to be ASCII: without another look at them. */
  get isKnownAscii(): boolean {
    return this.#text !== undefined && this.#text.length === this.bytes.length
  }

  text(start: number, end: number): string {
    const { bytes } = this
    // To slice a string costs a tenth of decoding bytes. In a text with as many characters as bytes, all positions are
    // the same.
    this.#text ??= bytes.length <= maxTextBytes ? this.#decode(0, bytes.length) : ''
    return this.#text.length === bytes.length ? this.#text.slice(start, end) : this.#decode(start, end)
  }

  #decode(start: number, end: number): string {
    const { bytes } = this
    this.#buffer ??= Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    return this.#buffer.toString('utf8', start, end)
  }

  /** The value of a string or key, without its escapes. */
  string(entry: number): string {
    const [start, end] = [this.start(entry), this.end(entry)]
    const plain = ((this.index[entry + 2] as number) & hasEscapes) === 0
    return plain ? this.text(start + 1, end - 1) : (JSON.parse(this.text(start, end)) as string)
  }

  /** The entries of an object's keys; none if the value is not an object. */
  keys(entry: number): number[] {
    const keys: number[] = []
    if (this.first(entry) !== brace) return keys
    const last = this.entryAfter(entry)
    for (let at = entry + stride; at < last; at = this.entryAfter(at + stride)) keys.push(at)
    return keys
  }

  /** Whether a key equals `key`. The cost is linear in the length of the shorter one. */
  isKey(entry: number, key: string): boolean {
    const start = this.start(entry) + 1
    const length = this.end(entry) - 1 - start
    // A UTF-16 unit takes at most six bytes in JSON.
    if (this.index[entry + 2] !== 0) return length <= 6 * key.length && this.#equals(start, start + length, key)
    if (length !== key.length) return false
    for (let nth = 0; nth < length; nth++) if (this.bytes[start + nth] !== key.charCodeAt(nth)) return false
    return true
  }

  /**
   * Compares a key with escapes or non-ASCII characters, and decodes it only up to the first difference: a document may
   * have many such keys.
   */
  #equals(start: number, end: number, key: string): boolean {
    const reader = new JsonStringReader(this.bytes, start, end)
    for (const character of key) if (reader.next() !== character.codePointAt(0)) return false
    return reader.next() === -1
  }

  /**
   * A part of the text as a piece of another document: decoded if it is short, because there may be many such pieces;
   * else its bytes.
   */
  piece(start: number, end: number): string | Uint8Array {
    return end - start <= maxDecodedPieceBytes ? this.text(start, end) : this.bytes.subarray(start, end)
  }
}

/** A key of an object, and its value. */
export class Member<Value> {
  readonly value: Value
  readonly #document: JsonDocument
  readonly #entry: number

  /** @param entry of the key */
  constructor(document: JsonDocument, entry: number, value: Value) {
    this.#document = document
    this.#entry = entry
    this.value = value
  }

  get key(): string {
    return this.#document.string(this.#entry)
  }

  /** The member's text, from its key to the end of its value. */
  get raw(): string {
    return this.#document.text(this.#document.start(this.#entry), this.#document.end(this.#entry + stride))
  }
}
