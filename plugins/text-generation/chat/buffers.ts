import { Buffer } from 'node:buffer'
import { numberOf } from '../../shared/lossless-json.ts'
import { StreamError } from '../assembly.ts'

/** Takes note of bytes that are kept from now on, or no longer (negative). Throws StreamError when they become too many. */
export type CountKept = (bytes: number) => void

export const createKeptCounter = (maxBytes: number): CountKept => {
  let kept = 0
  return (bytes) => {
    kept += bytes
    if (kept > maxBytes) throw new StreamError(`the answer is larger than ${maxBytes} bytes`)
  }
}

/**
 * A text that comes in pieces. They are joined in blocks, and the blocks only when the text is asked for: every character is copied twice, however
 * many pieces there are, and a million small pieces do not stay a million strings.
 */
export class TextBuffer {
  readonly #keep: CountKept
  readonly #blocks: string[] = []
  #pieces: string[] = []

  constructor(keep: CountKept, first = '') {
    this.#keep = keep
    this.append(first)
  }

  append(piece: string): void {
    if (piece === '') return
    this.#keep(Buffer.byteLength(piece))
    if (this.#pieces.push(piece) < piecesOfBlock) return
    this.#blocks.push(this.#pieces.join(''))
    this.#pieces = []
  }

  /** Something not empty that it ends with; empty when the text is. */
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

const piecesOfBlock = 4096

/** Members of an object that comes in parts, in the order in which they first came. A `__proto__` among them is a member like any other. */
export class MemberBuffer {
  readonly #keep: CountKept
  readonly #values: Map<string, unknown>

  constructor(keep: CountKept, initial: Readonly<Record<string, unknown>> = {}) {
    this.#keep = keep
    this.#values = new Map(Object.entries(initial))
  }

  get(key: string): unknown {
    return this.#values.get(key)
  }

  /** The last value wins, but null and an empty text do not erase what is there. */
  set(key: string, value: unknown): void {
    const old = this.#values.get(key)
    // Most of a chunk is what the one before it said.
    if (old === value && value !== undefined) return
    if (value === null ? this.#values.has(key) : value === '' && old !== null && old !== undefined) return
    this.#keep(weigh(value) - (this.#values.has(key) ? weigh(old) : -weigh(key)))
    this.#values.set(key, value)
  }

  /** Text is joined to the text, and an array to the array, that is there; anything else is set. */
  join(key: string, value: unknown): void {
    const old = this.#values.get(key)
    if (typeof value === 'string' && old instanceof TextBuffer) old.append(value)
    else if (Array.isArray(value) && Array.isArray(old)) {
      this.#keep(weigh(value))
      for (const element of value) old.push(element)
    } else if (typeof value === 'string' && (value !== '' || (old ?? null) === null)) {
      this.set(key, new TextBuffer(this.#keep, value))
    } else this.set(key, value)
  }

  toJSON(): Record<string, unknown> {
    return Object.fromEntries(this.#values)
  }
}

/** About as many bytes as a value takes; a text that grows has its own account. */
const weigh = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value !== 'object' || value === null || value instanceof TextBuffer) return 8
  let weight = 8
  for (const [key, inner] of Object.entries(value)) weight += key.length + weigh(inner)
  return weight
}

/** The members of a JSON object; none for anything else. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

/** A place in a list of choices or tool calls. Throws StreamError unless it is a whole number from 0 to 127. */
export const indexOf = (value: unknown): number => {
  const place = numberOf(value)
  if (Number.isInteger(place) && place >= 0 && place < maxIndexes) return place
  throw new StreamError(`the upstream sent an index that is no whole number from 0 to ${maxIndexes - 1}`)
}

/** The protocol's bound for choices, and the official client's for tool calls. */
export const maxIndexes = 128
