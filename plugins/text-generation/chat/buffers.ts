import { Buffer } from 'node:buffer'
import { numberOf } from '../../shared/json/lossless.ts'
import { StreamError } from '../protocol/assembly.ts'

/** Adds to the number of bytes that are kept; a negative number releases bytes. Throws StreamError above the limit. */
export type CountBytes = (bytes: number) => void

export const createByteCounter = (maxBytes: number): CountBytes => {
  let kept = 0
  return (bytes) => {
    kept += bytes
    if (kept > maxBytes) throw new StreamError(`the response is larger than ${maxBytes} bytes`)
  }
}

/**
 * A text that grows by pieces.
 *
 * Pieces are joined in blocks, and the blocks only on reading. So each character is copied twice however many pieces
 * there are, and a million small pieces do not stay a million strings.
 */
export class TextBuffer {
  readonly #countBytes: CountBytes
  readonly #blocks: string[] = []
  #pieces: string[] = []

  constructor(countBytes: CountBytes, first = '') {
    this.#countBytes = countBytes
    this.append(first)
  }

  append(piece: string): void {
    if (piece === '') return
    this.#countBytes(Buffer.byteLength(piece))
    if (this.#pieces.push(piece) < piecesPerBlock) return
    this.#blocks.push(this.#pieces.join(''))
    this.#pieces = []
  }

  /** Some characters at the end of the text, at least one. Empty when the text is. */
  get end(): string {
    return this.#pieces.at(-1) ?? this.#blocks.at(-1) ?? ''
  }

  toString(): string {
    return this.#blocks.join('') + this.#pieces.join('')
  }

  toJSON(): string {
    return this.toString()
  }
}

const piecesPerBlock = 4096

/**
 * Members of an object that grows by deltas, in the order of their first appearance. `__proto__` is an ordinary member.
 */
export class MemberBuffer {
  readonly #countBytes: CountBytes
  readonly #values: Map<string, unknown>

  constructor(countBytes: CountBytes, initial?: Readonly<Record<string, unknown>>) {
    this.#countBytes = countBytes
    this.#values = new Map(initial && Object.entries(initial))
  }

  get(key: string): unknown {
    return this.#values.get(key)
  }

  /** Sets a member. The last value wins, but null and an empty text do not replace an earlier value. */
  set(key: string, value: unknown): void {
    const old = this.#values.get(key)
    // Most members of a chunk are the same as in the chunk before it.
    if (old === value && value !== undefined) return
    if (value === null ? this.#values.has(key) : value === '' && old !== null && old !== undefined) return
    this.#countBytes(sizeOf(value) - (this.#values.has(key) ? sizeOf(old) : -sizeOf(key)))
    this.#values.set(key, value)
  }

  /** Appends text to a text, and an array to an array. Sets any other value. */
  append(key: string, value: unknown): void {
    const old = this.#values.get(key)
    if (typeof value === 'string' && old instanceof TextBuffer) old.append(value)
    else if (Array.isArray(value) && Array.isArray(old)) {
      this.#countBytes(sizeOf(value))
      for (const element of value) old.push(element)
    } else if (typeof value === 'string' && (value !== '' || (old ?? null) === null)) {
      this.set(key, new TextBuffer(this.#countBytes, value))
    } else this.set(key, value)
  }

  toJSON(): Record<string, unknown> {
    return Object.fromEntries(this.#values)
  }
}

/** Estimated bytes of a value. A TextBuffer counts its own text. */
const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value !== 'object' || value === null || value instanceof TextBuffer) return 8
  let size = 8
  for (const [key, inner] of Object.entries(value)) size += key.length + sizeOf(inner)
  return size
}

/** Reads the index of a choice or a tool call. Throws StreamError unless it is a whole number from 0 to 127. */
export const readIndex = (value: unknown): number => {
  const index = numberOf(value)
  if (Number.isInteger(index) && index >= 0 && index < maxIndexes) return index
  throw new StreamError(`the upstream sent an index that is not a whole number from 0 to ${maxIndexes - 1}`)
}

/** The API's maximum of choices (`n`), and of tool calls in OpenAI's client. */
export const maxIndexes = 128
