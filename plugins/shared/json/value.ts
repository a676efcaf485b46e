import { type Changes, isChange, splitChanges } from './changes.ts'
import { JsonDocument, Member } from './document.ts'
import { join, type Piece, rewrite } from './pieces.ts'
import { brace, bracket, isNumeric, quote } from './tokens.ts'
import { stride } from './value-index.ts'

/** A key and its new value. Undefined removes the key. */
export type MemberChange = readonly [key: string, value: Json | undefined]

/** A JSON value in its original text: a view of a document, which looks values up on demand. Created by `readJson`. */
export class Json {
  readonly #document: JsonDocument | undefined
  readonly #entry: number

  constructor(document: JsonDocument | undefined, entry = 0) {
    this.#document = document
    this.#entry = entry
  }

  protected get document(): JsonDocument {
    return this.#document as JsonDocument
  }

  /** The value's text, without surrounding white space. */
  get raw(): string {
    return this.document.text(this.document.start(this.#entry), this.document.end(this.#entry))
  }

  /** The value's text in UTF-8, not copied. */
  get bytes(): Uint8Array {
    return this.document.bytes.subarray(this.document.start(this.#entry), this.document.end(this.#entry))
  }

  get byteLength(): number {
    return this.document.end(this.#entry) - this.document.start(this.#entry)
  }

  /** Whether the value is known to be ASCII: without a look at its bytes. */
  get isKnownAscii(): boolean {
    return this.document.isKnownAscii
  }

  /** Number of the keys and values in it, with itself. */
  get entryCount(): number {
    return (this.document.entryAfter(this.#entry) - this.#entry) / stride
  }

  /** The pieces by which a composed text includes the value. */
  get pieces(): readonly Piece[] {
    return [this.document.piece(this.document.start(this.#entry), this.document.end(this.#entry))]
  }

  get isObject(): boolean {
    return this.document.first(this.#entry) === brace
  }

  get isArray(): boolean {
    return this.document.first(this.#entry) === bracket
  }

  get isString(): boolean {
    return this.document.first(this.#entry) === quote
  }

  get isNumber(): boolean {
    return isNumeric(this.document.first(this.#entry))
  }

  /** Whether the value is this literal. */
  is(word: 'null' | 'true' | 'false'): boolean {
    return this.document.first(this.#entry) === word.charCodeAt(0)
  }

  /** The value as `JSON.parse` returns it: numbers are rounded, and of duplicate keys only the last counts. */
  value(): unknown {
    return JSON.parse(this.raw)
  }

  /** The value of a string; undefined for other values. */
  string(): string | undefined {
    return this.isString ? this.document.string(this.#entry) : undefined
  }

  /** All members in document order, with duplicates; none if the value is not an object. */
  members(): readonly Member<Json>[] {
    const { document } = this
    return document.keys(this.#entry).map((key) => new Member(document, key, new Json(document, key + stride)))
  }

  /** Keys of all members. In an edited object their order may differ from the text. */
  keys(): readonly string[] {
    const { document } = this
    return document.keys(this.#entry).map((key) => document.string(key))
  }

  /** The value of the last member with this key, like `JSON.parse`. */
  get(key: string): Json | undefined {
    const { document } = this
    let found: number | undefined
    if (!this.isObject) return undefined
    const last = document.entryAfter(this.#entry)
    for (let at = this.#entry + stride; at < last; at = document.entryAfter(at + stride)) {
      if (document.isKey(at, key)) found = at
    }
    return found === undefined ? undefined : new Json(document, found + stride)
  }

  /** The values of all members with this key. */
  all(key: string): readonly Json[] {
    const { document } = this
    if (!this.isObject) return none
    let found: Json[] | undefined
    const last = document.entryAfter(this.#entry)
    for (let at = this.#entry + stride; at < last; at = document.entryAfter(at + stride)) {
      if (!document.isKey(at, key)) continue
      const value = new Json(document, at + stride)
      if (found) found.push(value)
      else found = [value]
    }
    return found ?? none
  }

  /** The elements of an array; none if the value is not an array. */
  elements(): readonly Json[] {
    const { document } = this
    const found: Json[] = []
    if (!this.isArray) return found
    const last = document.entryAfter(this.#entry)
    for (let at = this.#entry + stride; at < last; at = document.entryAfter(at)) found.push(new Json(document, at))
    return found
  }

  /** All objects in the value, at any depth, in document order; the value itself first. */
  *objects(): Generator<Json> {
    const { document } = this
    const last = document.entryAfter(this.#entry)
    for (let at = this.#entry; at < last; at += stride) if (document.first(at) === brace) yield new Json(document, at)
  }

  /** The object without the members whose keys match; this object if there are none. */
  without(matches: (key: string) => boolean): Json {
    return this.edit(
      this.keys()
        .filter(matches)
        .map((key) => [key, undefined]),
    )
  }

  /**
   * The object with one member set: it replaces all members with this key, or is appended. Returns this object if
   * nothing changes.
   */
  with(key: string, value: Json): Json {
    return this.edit([[key, value]])
  }

  /** The object with several members set or removed. All other bytes remain. Returns this object if nothing changes. */
  edit(changes: readonly MemberChange[]): Json {
    if (changes.length === 0) return this
    const wanted = new Map(changes)
    const now = this.valuesOf(wanted)
    for (const [key, value] of wanted) if (isChange(now.get(key), value)) return this.edited(wanted, now)
    return this
  }

  /** The values of several keys, in one pass over the members. */
  valuesOf(wanted: ReadonlyMap<string, unknown>): Map<string, readonly Json[]> {
    const found = new Map<string, Json[]>()
    const { document } = this
    for (const entry of document.keys(this.#entry)) {
      const key = document.string(entry)
      if (!wanted.has(key)) continue
      const values = found.get(key)
      const value = new Json(document, entry + stride)
      if (values) values.push(value)
      else found.set(key, [value])
    }
    return found
  }

  protected edited(wanted: Changes<Json>, now: ReadonlyMap<string, unknown>): Json {
    const [changes, added] = splitChanges(wanted, now)
    return new EditedJson(this.document, this.#entry, changes, added)
  }
}

/** Of keys that an object does not have, which is most that a request is asked for. */
const none: readonly Json[] = []

/** A value composed from pieces. The pieces are joined at the first lookup, or when the value is sent. */
export class ComposedJson extends Json {
  #pieces: readonly Piece[] | undefined
  #composed: JsonDocument | undefined

  constructor(pieces?: readonly Piece[]) {
    super(undefined)
    this.#pieces = pieces
  }

  protected override get document(): JsonDocument {
    this.#composed ??= new JsonDocument(join(this.pieces))
    return this.#composed
  }

  override get raw(): string {
    const [only, ...more] = this.pieces
    if (typeof only === 'string' && more.length === 0) return only
    return this.document.text(0, this.document.bytes.length)
  }

  override get bytes(): Uint8Array {
    return this.document.bytes
  }

  override get byteLength(): number {
    return this.document.bytes.length
  }

  override get pieces(): readonly Piece[] {
    this.#pieces ??= this.compose()
    return this.#pieces
  }

  protected compose(): readonly Piece[] {
    return []
  }
}

/** An object with pending changes. Further edits are merged into them, so that the text is copied only once. */
class EditedJson extends ComposedJson {
  readonly #document: JsonDocument
  readonly #entry: number
  /** New values of existing members; undefined removes the members. */
  readonly #changes: Changes<Json>
  /** Members to append: their keys are not in the original text, or were removed before. */
  readonly #added: ReadonlyMap<string, Json>

  constructor(document: JsonDocument, entry: number, changes: Changes<Json>, added: ReadonlyMap<string, Json>) {
    super()
    this.#document = document
    this.#entry = entry
    this.#changes = changes
    this.#added = added
  }

  override get isObject(): boolean {
    return true
  }

  override get(key: string): Json | undefined {
    return this.all(key).at(-1)
  }

  override all(key: string): readonly Json[] {
    const value = this.#added.get(key) ?? this.#changes.get(key)
    if (value) return [value]
    return this.#changes.has(key) ? [] : new Json(this.#document, this.#entry).all(key)
  }

  override keys(): readonly string[] {
    const before = new Json(this.#document, this.#entry).keys()
    const replaced = [...this.#changes].filter(([, value]) => value).map(([key]) => key)
    return [...before.filter((key) => !this.#changes.has(key)), ...replaced, ...this.#added.keys()]
  }

  override valuesOf(wanted: Changes<Json>): Map<string, readonly Json[]> {
    const found = new Json(this.#document, this.#entry).valuesOf(wanted)
    for (const key of wanted.keys()) {
      if (this.#added.has(key) || this.#changes.has(key)) found.delete(key)
      const value = this.#added.get(key) ?? this.#changes.get(key)
      if (value) found.set(key, [value])
    }
    return found
  }

  protected override edited(wanted: Changes<Json>, now: ReadonlyMap<string, unknown>): Json {
    const before = new Map([...this.#added].filter(([key]) => !wanted.has(key)))
    const inText = new Map([...now].filter(([key]) => !this.#added.has(key)))
    const [changes, added] = splitChanges(wanted, inText)
    return new EditedJson(
      this.#document,
      this.#entry,
      new Map([...this.#changes, ...changes]),
      new Map([...before, ...added]),
    )
  }

  protected override compose(): readonly Piece[] {
    return rewrite(this.#document, this.#entry, this.#changes, this.#added)
  }
}
