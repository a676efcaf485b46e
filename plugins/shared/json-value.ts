import { JsonDocument } from './json-document.ts'
import { stride } from './json-index.ts'
import { join, type Piece, rewrite } from './json-pieces.ts'
import { brace, bracket, isNumeric, quote } from './json-tokens.ts'

/** A JSON value as it was written: a light view of a document, into which it looks when it is asked. Made by `readJson`. */
export class Json {
  readonly #document: JsonDocument | undefined
  readonly #place: number

  constructor(document: JsonDocument | undefined, place = 0) {
    this.#document = document
    this.#place = place
  }

  protected get document(): JsonDocument {
    return this.#document as JsonDocument
  }

  /** The value's text, without surrounding white space. Costs what it is long. */
  get raw(): string {
    return this.document.text(this.document.start(this.#place), this.document.end(this.#place))
  }

  /** The same in UTF-8; nothing is copied. */
  get bytes(): Uint8Array {
    return this.document.bytes.subarray(this.document.start(this.#place), this.document.end(this.#place))
  }

  get byteLength(): number {
    return this.document.end(this.#place) - this.document.start(this.#place)
  }

  /** What others put together that hold it. */
  get pieces(): readonly Piece[] {
    return [this.document.piece(this.document.start(this.#place), this.document.end(this.#place))]
  }

  get isObject(): boolean {
    return this.document.first(this.#place) === brace
  }

  get isArray(): boolean {
    return this.document.first(this.#place) === bracket
  }

  get isString(): boolean {
    return this.document.first(this.#place) === quote
  }

  get isNumber(): boolean {
    return isNumeric(this.document.first(this.#place))
  }

  /** Whether it is that word. */
  is(word: 'null' | 'true' | 'false'): boolean {
    return this.document.first(this.#place) === word.charCodeAt(0)
  }

  /** The value as JavaScript sees it; objects with their last repeated keys, numbers rounded. */
  value(): unknown {
    return JSON.parse(this.raw)
  }

  /** The string, when it is one. */
  string(): string | undefined {
    return this.isString ? this.document.string(this.#place) : undefined
  }

  /** Members in their order, repeated ones too. None when it is not an object. */
  members(): readonly Member[] {
    const { document } = this
    return document.keys(this.#place).map((key) => new Member(document, key))
  }

  /** Keys of its members; an edited object may have them in another order. */
  keys(): readonly string[] {
    const { document } = this
    return document.keys(this.#place).map((key) => document.string(key))
  }

  /** Value of the last member with exactly that key, as `JSON.parse` would choose. */
  get(key: string): Json | undefined {
    const { document } = this
    let found: number | undefined
    if (!this.isObject) return undefined
    const last = document.behind(this.#place)
    for (let at = this.#place + stride; at < last; at = document.behind(at + stride)) {
      if (document.isKey(at, key)) found = at
    }
    return found === undefined ? undefined : new Json(document, found + stride)
  }

  /** Values of all members with exactly that key. */
  all(key: string): readonly Json[] {
    const { document } = this
    const found: Json[] = []
    if (!this.isObject) return found
    const last = document.behind(this.#place)
    for (let at = this.#place + stride; at < last; at = document.behind(at + stride)) {
      if (document.isKey(at, key)) found.push(new Json(document, at + stride))
    }
    return found
  }

  /** Elements of an array; none when it is not an array. */
  elements(): readonly Json[] {
    return this.document.elements(this.#place).map((element) => new Json(this.document, element))
  }

  /** Every object in it, itself first. */
  *objects(): Generator<Json> {
    const { document } = this
    const last = document.behind(this.#place)
    for (let at = this.#place; at < last; at += stride) if (document.first(at) === brace) yield new Json(document, at)
  }

  /** The same object without the members that `unwanted` names; itself when there are none. */
  without(unwanted: (key: string) => boolean): Json {
    return this.edit(
      this.keys()
        .filter(unwanted)
        .map((key) => [key, undefined]),
    )
  }

  /** The same object with one value replaced, all members of that key by one, or added at the end; itself when it says so already. */
  with(key: string, value: Json): Json {
    return this.edit([[key, value]])
  }

  /** The same object with values replaced or added; undefined ones are taken out. Every other byte stays. Itself when nothing changes. */
  edit(changes: readonly MemberChange[]): Json {
    if (changes.length === 0) return this
    const wanted = new Map(changes)
    const now = this.valuesOf(wanted)
    for (const [key, value] of wanted) if (isChange(now.get(key), value)) return this.edited(wanted, now)
    return this
  }

  /** Of all keys that are asked for, in one walk over the members. */
  valuesOf(wanted: ReadonlyMap<string, unknown>): Map<string, readonly Json[]> {
    const found = new Map<string, Json[]>()
    const { document } = this
    for (const place of document.keys(this.#place)) {
      const key = document.string(place)
      if (!wanted.has(key)) continue
      const values = found.get(key)
      const value = new Json(document, place + stride)
      if (values) values.push(value)
      else found.set(key, [value])
    }
    return found
  }

  protected edited(wanted: Changes, now: ReadonlyMap<string, unknown>): Json {
    const [changes, added] = split(wanted, now)
    return new Edited(this.document, this.#place, changes, added)
  }
}

const isChange = ([now, ...more]: readonly Json[] = [], wanted: Json | undefined): boolean => {
  if (!wanted || !now || more.length > 0) return wanted !== now
  return now.byteLength !== wanted.byteLength || now.raw !== wanted.raw
}

/** A key and its new value; undefined: the object is to be without. */
export type MemberChange = readonly [key: string, value: Json | undefined]

type Changes = ReadonlyMap<string, Json | undefined>

/** What changes values that there are, and what adds some. */
const split = (wanted: Changes, now: ReadonlyMap<string, unknown>): readonly [Changes, ReadonlyMap<string, Json>] => {
  const changes = new Map<string, Json | undefined>()
  const added = new Map<string, Json>()
  for (const [key, value] of wanted) {
    if (now.has(key)) changes.set(key, value)
    else if (value) added.set(key, value)
  }
  return [changes, added]
}

/** What is put together from pieces of a valid text, once somebody looks into it or sends it. */
export class ComposedJson extends Json {
  #pieces: readonly Piece[] | undefined
  #made: JsonDocument | undefined

  constructor(pieces?: readonly Piece[]) {
    super(undefined)
    this.#pieces = pieces
  }

  protected override get document(): JsonDocument {
    this.#made ??= new JsonDocument(join(this.pieces))
    return this.#made
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

/** An object with changes. Further ones join them: however often it is edited, the text is copied once. */
class Edited extends ComposedJson {
  readonly #document: JsonDocument
  readonly #place: number
  /** New values of members that it had. Undefined: taken out. */
  readonly #changes: Changes
  /** Members that it had not, or no more. */
  readonly #added: ReadonlyMap<string, Json>

  constructor(document: JsonDocument, place: number, changes: Changes, added: ReadonlyMap<string, Json>) {
    super()
    this.#document = document
    this.#place = place
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
    return this.#changes.has(key) ? [] : new Json(this.#document, this.#place).all(key)
  }

  override keys(): readonly string[] {
    const before = new Json(this.#document, this.#place).keys()
    const replaced = [...this.#changes].filter(([, value]) => value).map(([key]) => key)
    return [...before.filter((key) => !this.#changes.has(key)), ...replaced, ...this.#added.keys()]
  }

  override valuesOf(wanted: Changes): Map<string, readonly Json[]> {
    const found = new Json(this.#document, this.#place).valuesOf(wanted)
    for (const key of wanted.keys()) {
      if (this.#added.has(key) || this.#changes.has(key)) found.delete(key)
      const value = this.#added.get(key) ?? this.#changes.get(key)
      if (value) found.set(key, [value])
    }
    return found
  }

  protected override edited(wanted: Changes, now: ReadonlyMap<string, unknown>): Json {
    const before = new Map([...this.#added].filter(([key]) => !wanted.has(key)))
    const inText = new Map([...now].filter(([key]) => !this.#added.has(key)))
    const [changes, added] = split(wanted, inText)
    return new Edited(
      this.#document,
      this.#place,
      new Map([...this.#changes, ...changes]),
      new Map([...before, ...added]),
    )
  }

  protected override compose(): readonly Piece[] {
    return rewrite(this.#document, this.#place, this.#changes, this.#added)
  }
}

/** A member of an object. */
export class Member {
  readonly #document: JsonDocument
  readonly #place: number

  constructor(document: JsonDocument, place: number) {
    this.#document = document
    this.#place = place
  }

  get key(): string {
    return this.#document.string(this.#place)
  }

  get value(): Json {
    return new Json(this.#document, this.#place + stride)
  }

  /** Its text, from the key to the end of the value. */
  get raw(): string {
    return this.#document.text(this.#document.start(this.#place), this.#document.end(this.#place + stride))
  }
}
