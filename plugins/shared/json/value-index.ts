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
} from './tokens.ts'

/** Limits on a JSON document. The parser stops with an error as soon as one is exceeded. */
export interface JsonLimits {
  /** Nesting depth of objects and arrays. Default 64. */
  readonly maxDepth?: number
  /** Number of values: the document itself, values of members, and elements. Default 100,000. */
  readonly maxValues?: number
  /**
   * Total bytes of all keys and numbers. Strings do not count: the parser decodes only those that are looked up.
   * Default 4 MiB.
   */
  readonly maxKeyBytes?: number
}

/** The limits with their defaults. */
export const limitsOf = ({ maxDepth = 64, maxValues = 100_000, maxKeyBytes = 2 ** 22 }: JsonLimits = {}) => ({
  maxDepth,
  maxValues,
  maxKeyBytes,
})

/**
 * Numbers of an index entry. Each key and each value has one, in document order: its start, its end, and a third
 * number.
 */
export const stride = 3

// The third number of a string or key is a combination of these flags. For an object or array it is the entry after its
// content.
export const hasEscapes = 1
export const hasNonAscii = 2

/** Number of bytes indexed since the process started. Tests compare it instead of times. */
export const indexed = { bytes: 0 }

// States: what the parser expects next.
const value = 0
const elementOrEnd = 1
const keyOrEnd = 2
const key = 3
const afterKey = 4
const afterValue = 5
const endOfDocument = 6

/**
 * Parses the bytes of a JSON document (RFC 8259) in one pass, and creates an index of its keys and values. Accepts the
 * same texts as `JSON.parse`.
 *
 * It does not recurse, and can pause at any byte, so that a large document does not block the event loop.
 */
export class JsonIndexer {
  readonly #bytes: Uint8Array
  readonly #limits: Required<JsonLimits>
  #index: Int32Array = empty
  /** Number of used elements of `#index`. */
  #length = 0
  #at = 0
  #next = value
  #values = 0
  #keyBytes = 0
  /** Entries of the open objects and arrays, the innermost last. */
  readonly #open: number[] = []
  #inString = false
  /** Whether the innermost open value is an object. */
  #inObject = false
  #flags = 0
  /** The bytes as aligned 32-bit words, for fast scans of long strings. Created at the first long string. */
  #words: Int32Array | undefined

  constructor(bytes: Uint8Array, limits?: JsonLimits) {
    this.#bytes = bytes
    this.#limits = limitsOf(limits)
  }

  /** Parses the rest of the document and returns the index. Throws JsonError. */
  finish(): Int32Array {
    if (this.#length === 0) this.#index = shared
    this.read()
    return this.#index === shared ? shared.slice(0, this.#length) : this.#index.subarray(0, this.#length)
  }

  /** The position that has been reached. */
  get at(): number {
    return this.#at
  }

  /**
   * Parses about `maxBytes` further bytes, with at most `maxEntries` keys and values. Returns whether the document is
   * complete. Throws JsonError.
   */
  read(maxBytes = Number.POSITIVE_INFINITY, maxEntries = Number.POSITIVE_INFINITY): boolean {
    const bytes = this.#bytes
    const open = this.#open
    const { maxDepth, maxValues, maxKeyBytes } = this.#limits
    const from = this.#at
    const stop = Math.min(from + maxBytes, bytes.length)
    let index = this.#index
    let length = this.#length
    const maxLength = length + stride * maxEntries
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
      if (at >= stop || length >= maxLength) break
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
        const entry = open.pop() ?? -1
        const mayEnd = next === afterValue || next === keyOrEnd || next === elementOrEnd
        // In ASCII the code of an opening brace or bracket is that of the closing one minus 2.
        if (!mayEnd || bytes[index[entry] as number] !== code - 2) throw invalid()
        index[entry + 1] = ++at
        index[entry + 2] = length
        inObject = open.length > 0 && bytes[index[open[open.length - 1] as number] as number] === brace
        next = open.length === 0 ? endOfDocument : afterValue
        continue
      }
      if (keyBytes > maxKeyBytes) throw tooManyKeys(maxKeyBytes)
      if (length + stride > index.length) index = this.#grow()
      index[length] = at
      index[length + 2] = 0
      length += stride
      if (code === quote && (next === key || next === keyOrEnd)) {
        next = afterKey
      } else {
        if (next !== value && next !== elementOrEnd) throw invalid()
        if (++values > maxValues) throw new JsonError(`of more than ${maxValues} values`)
        next = open.length === 0 ? endOfDocument : afterValue
      }
      if (code === quote) {
        const shortEnd = Math.min(at + shortStringBytes, stop)
        for (at++; at < shortEnd && plain[bytes[at] as number] === 1; ) at++
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
    if (at < bytes.length) return false
    if (this.#inString || next !== endOfDocument) throw invalid()
    return true
  }

  #grow(): Int32Array {
    const more = new Int32Array(Math.max(firstCapacity, 2 * this.#index.length))
    more.set(this.#index)
    this.#index = more
    return more
  }

  /** Continues in a string, to its end or to about `stop`. Returns the position reached. */
  #readString(start: number, stop: number): number {
    const bytes = this.#bytes
    const wordsAt = -bytes.byteOffset & 3
    let flags = this.#flags
    let at = start
    while (at < stop) {
      if (stop - at < minWordBytes) {
        while (at < stop && plain[bytes[at] as number] === 1) at++
        if (at >= stop) break
      } else if (((at - wordsAt) & 3) === 0) {
        this.#words ??= new Int32Array(bytes.buffer, bytes.byteOffset + wordsAt, (bytes.length - wordsAt) >> 2)
        const words = this.#words
        const end = (stop - wordsAt) >> 2
        let wordAt = (at - wordsAt) >> 2
        let bits = 0
        for (; wordAt < end; wordAt++) {
          const word = words[wordAt] as number
          if (hasSpecialByte(word)) break
          bits |= word
        }
        if ((bits & 0x80808080) !== 0) flags |= hasNonAscii
        at = wordsAt + 4 * wordAt
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
        if (code >= 0x80) flags |= hasNonAscii
        at++
      }
    }
    this.#flags = flags
    return at
  }
}

/** Initial length of the index of a document that is parsed in several steps. The index grows on demand. */
const firstCapacity = 3 * 2 ** 10

const empty = new Int32Array(0)

/** Where the index of a document is written that is parsed in one step. What it needs of it is copied at the end. */
const shared = new Int32Array(firstCapacity)

/** Strings up to this length are scanned byte by byte; most are shorter. */
const shortStringBytes = 64

/** With less left, words take longer than bytes: the runtime has to make the buffer of the bytes for them. */
const minWordBytes = 1_024

/**
 * Whether one of the four bytes is a quote, a backslash, or less than 0x20
 * (https://graphics.stanford.edu/~seander/bithacks.html#HasLessInWord).
 */
const hasSpecialByte = (word: number): boolean => {
  const quotes = word ^ 0x22222222
  const backslashes = word ^ 0x5c5c5c5c
  const low = (word - 0x20202020) & ~word
  return ((((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes) | low) & 0x80808080) !== 0
}

const tooManyKeys = (max: number): JsonError => new JsonError(`of more than ${max} bytes of keys and numbers`)
