import {
  backslash,
  brace,
  bracket,
  closingBrace,
  closingBracket,
  colon,
  comma,
  endOfEscape,
  endOfNumber,
  endOfWord,
  invalid,
  isNumeric,
  isSpace,
  JsonError,
  plain,
  quote,
} from './json-tokens.ts'

/** What a document may be made of. More is refused as soon as it is seen. */
export interface JsonLimits {
  /** Objects and arrays within each other. Default 64. */
  readonly maxDepth?: number
  /** The document itself, members and elements. Default 100,000. */
  readonly maxValues?: number
  /** Bytes of all keys and numbers together. Strings are not among them: one that nobody asks for costs nothing more. Default 4 MiB. */
  readonly maxKeyBytes?: number
}

export const limitsOf = ({ maxDepth = 64, maxValues = 100_000, maxKeyBytes = 2 ** 22 }: JsonLimits = {}) => ({
  maxDepth,
  maxValues,
  maxKeyBytes,
})

/** Numbers in an index for each key and each value, in their order: where it starts, where it ends, and a third one. */
export const stride = 3

// The third number of a string or key is made of these; that of an object or array is the place in the index behind all that it holds.
export const hasEscapes = 1
export const hasBeyondAscii = 2

/** Bytes that have been indexed since the process began: by these, and not by time, tests tell what a request costs. */
export const indexed = { bytes: 0 }

// What may come next:
const value = 0
const elementOrEnd = 1
const keyOrEnd = 2
const key = 3
const afterKey = 4
const afterValue = 5
const nothing = 6

/**
 * Reads a JSON document (RFC 8259) once, from its bytes, and notes where everything stands. Accepts what `JSON.parse` accepts.
 *
 * Nothing recurses, and reading can rest at any byte, so that a large document need not hold up everything else.
 */
export class JsonIndexer {
  readonly #bytes: Uint8Array
  readonly #limits: Required<JsonLimits>
  #index: Int32Array
  /** Numbers in the index. */
  #length = 0
  #at = 0
  #next = value
  #values = 0
  #keyBytes = 0
  /** Objects and arrays around the place, by their places in the index. */
  readonly #open: number[] = []
  #inString = false
  /** Whether the innermost that is open is an object. */
  #inObject = false
  #flags = 0
  /** The bytes by four, from the first place where that is possible: long strings are read by these. Made for the first one. */
  #words: Int32Array | undefined

  constructor(bytes: Uint8Array, limits?: JsonLimits) {
    this.#bytes = bytes
    this.#limits = limitsOf(limits)
    this.#index = new Int32Array(Math.min(32 + (bytes.length >> 2), firstCapacity))
  }

  /** The index, when all has been read. Throws JsonError. */
  finish(): Int32Array {
    this.read()
    return this.#index
  }

  /** Reads about so many bytes on. Whether the document has ended. Throws JsonError. */
  read(most = Number.POSITIVE_INFINITY): boolean {
    const bytes = this.#bytes
    const open = this.#open
    const { maxDepth, maxValues, maxKeyBytes } = this.#limits
    const from = this.#at
    const stop = Math.min(from + most, bytes.length)
    let index = this.#index
    let length = this.#length
    let values = this.#values
    let keyBytes = this.#keyBytes
    let inObject = this.#inObject
    let at = from
    let next = this.#next
    for (;;) {
      if (this.#inString) {
        at = this.#readString(at, stop)
        if (this.#inString) break
        index[length - 2] = at
        index[length - 1] = this.#flags
        if (next === afterKey) keyBytes += at - (index[length - stride] as number)
      }
      while (at < stop && isSpace(bytes[at] as number)) at++
      if (at >= stop) break
      const code = bytes[at] as number
      if (code === comma) {
        if (next !== afterValue) throw invalid()
        next = inObject ? key : value
        at++
        continue
      }
      if (code === colon) {
        if (next !== afterKey) throw invalid()
        next = value
        at++
        continue
      }
      if (code === closingBrace || code === closingBracket) {
        const opened = open.pop() ?? -1
        const mayEnd = next === afterValue || next === keyOrEnd || next === elementOrEnd
        // A brace, and likewise a bracket, is two before the one that closes it.
        if (!mayEnd || bytes[index[opened] as number] !== code - 2) throw invalid()
        index[opened + 1] = ++at
        index[opened + 2] = length
        inObject = open.length > 0 && bytes[index[open[open.length - 1] as number] as number] === brace
        next = open.length === 0 ? nothing : afterValue
        continue
      }
      if (keyBytes > maxKeyBytes) throw tooManyKeys(maxKeyBytes)
      if (length + stride > index.length) index = this.#grow()
      index[length] = at
      length += stride
      if (code === quote && (next === key || next === keyOrEnd)) {
        next = afterKey
      } else {
        if (next !== value && next !== elementOrEnd) throw invalid()
        if (++values > maxValues) throw new JsonError(`of more than ${maxValues} values`)
        next = open.length === 0 ? nothing : afterValue
      }
      if (code === quote) {
        const near = Math.min(at + nearby, stop)
        for (at++; at < near && plain[bytes[at] as number] === 1; ) at++
        if (bytes[at] !== quote || at >= stop) {
          this.#inString = true
          this.#flags = 0
          continue
        }
        at++
        index[length - 2] = at
        if (next === afterKey) keyBytes += at - (index[length - stride] as number)
      } else if (code === brace || code === bracket) {
        if (open.push(length - stride) > maxDepth) throw new JsonError(`nested deeper than ${maxDepth} levels`)
        inObject = code === brace
        next = inObject ? keyOrEnd : elementOrEnd
        at++
      } else {
        const isNumber = isNumeric(code)
        const end = isNumber ? endOfNumber(bytes, at) : endOfWord(bytes, at)
        if (isNumber) keyBytes += end - at
        index[length - 2] = at = end
      }
    }
    if (keyBytes > maxKeyBytes) throw tooManyKeys(maxKeyBytes)
    this.#at = at
    this.#inObject = inObject
    this.#keyBytes = keyBytes
    this.#next = next
    this.#length = length
    this.#values = values
    indexed.bytes += at - from
    if (stop < bytes.length) return false
    if (this.#inString || next !== nothing) throw invalid()
    return true
  }

  #grow(): Int32Array {
    const more = new Int32Array(2 * this.#index.length)
    more.set(this.#index)
    this.#index = more
    return more
  }

  /** Reads on in a string, to its end or to about `stop`. Where it has come to. */
  #readString(start: number, stop: number): number {
    const bytes = this.#bytes
    const wordsAt = -bytes.byteOffset & 3
    let flags = this.#flags
    let at = start
    while (at < stop) {
      if (((at - wordsAt) & 3) === 0 && stop - at >= nearby) {
        this.#words ??= new Int32Array(bytes.buffer, bytes.byteOffset + wordsAt, (bytes.length - wordsAt) >> 2)
        const words = this.#words
        const end = (stop - wordsAt) >> 2
        let place = (at - wordsAt) >> 2
        let bits = 0
        for (; place < end; place++) {
          const word = words[place] as number
          if (holdsSpecial(word)) break
          bits |= word
        }
        if ((bits & 0x80808080) !== 0) flags |= hasBeyondAscii
        at = wordsAt + 4 * place
        if (at >= stop) break
      }
      const code = bytes[at] as number
      if (code === quote) {
        this.#flags = flags
        this.#inString = false
        return at + 1
      }
      if (code < 0x20) throw invalid()
      if (code === backslash) {
        flags |= hasEscapes
        at = endOfEscape(bytes, at)
      } else {
        if (code >= 0x80) flags |= hasBeyondAscii
        at++
      }
    }
    this.#flags = flags
    return at
  }
}

/** Numbers in the first index of a large document, which grows. */
const firstCapacity = 3 * 2 ** 10

/** Most strings end within so many bytes. */
const nearby = 64

/** Whether a byte of the four is a quote, a backslash, or below 0x20 (https://graphics.stanford.edu/~seander/bithacks.html#HasLessInWord). */
const holdsSpecial = (word: number): boolean => {
  const quotes = word ^ 0x22222222
  const backslashes = word ^ 0x5c5c5c5c
  const low = (word - 0x20202020) & ~word
  return ((((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes) | low) & 0x80808080) !== 0
}

const tooManyKeys = (most: number): JsonError => new JsonError(`of more than ${most} bytes of keys and numbers`)
