import type { JsonDocument } from './document.ts'
import { stride } from './value-index.ts'

/** A key and its value in an object. */
export class Member<Value> {
  readonly value: Value
  readonly #document: JsonDocument
  readonly #entry: number

  /** @param entry the offset of the key */
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
