/** Decodes a JSON string character by character, for comparisons that need only its beginning. */
export class JsonStringReader {
  /** Position of the next character. */
  at: number
  readonly #bytes: Uint8Array
  readonly #end: number

  constructor(bytes: Uint8Array, at: number, end: number) {
    this.#bytes = bytes
    this.at = at
    this.#end = end
  }

  /** Returns the next code point, or -1 at the end. */
  next(): number {
    const bytes = this.#bytes
    if (this.at >= this.#end) return -1
    const code = bytes[this.at++] as number
    if (code === 0x5c) return this.#readEscape()
    if (code < 0x80) return code
    const continuationBytes = code < 0xe0 ? 1 : code < 0xf0 ? 2 : 3
    let point = code & (0x3f >> continuationBytes)
    for (let nth = 0; nth < continuationBytes; nth++) point = (point << 6) | ((bytes[this.at++] as number) & 0x3f)
    return point
  }

  #readEscape(): number {
    const bytes = this.#bytes
    const letter = bytes[this.at++] as number
    if (letter !== 0x75) return escapes.get(letter) ?? letter
    const unit = this.#readUnit(this.at)
    this.at += 4
    const isHigh = unit >= 0xd800 && unit < 0xdc00
    if (!isHigh || bytes[this.at] !== 0x5c || bytes[this.at + 1] !== 0x75) return unit
    const low = this.#readUnit(this.at + 2)
    if (low < 0xdc00 || low > 0xdfff) return unit
    this.at += 6
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
  }

  #readUnit(at: number): number {
    let unit = 0
    for (let nth = 0; nth < 4; nth++) {
      const digit = this.#bytes[at + nth] as number
      unit = (unit << 4) | (digit < 0x40 ? digit & 0xf : (digit & 0xf) + 9)
    }
    return unit
  }
}

const escapes: ReadonlyMap<number, number> = new Map(
  [...'bfnrt'].map((letter, nth) => [letter.charCodeAt(0), [8, 12, 10, 13, 9][nth] as number]),
)
