/** Follows a JSON text piece by piece, without parsing it, to tell whether its value may have ended. */
export class JsonEnd {
  /**
   * Whether an object, an array or a string has ended, and nothing but white space follows. More digits may follow a
   * number.
   */
  hasEnded = false
  /** The deepest nesting so far. */
  maxDepth = 0
  #hasMore = false
  #depth = 0
  #inString = false
  #isEscaped = false

  push(text: string): void {
    for (let at = 0; at < text.length && !this.#hasMore; at++) this.#read(text[at] as string)
  }

  #read(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (this.#inString) {
      if (character === '\\') this.#isEscaped = true
      else if (character === '"') this.#end()
    } else if (this.hasEnded) {
      this.#hasMore = !/\s/.test(character)
      this.hasEnded = !this.#hasMore
    } else if (character === '"') this.#inString = true
    else if (character === '{' || character === '[') this.maxDepth = Math.max(this.maxDepth, ++this.#depth)
    else if (character === '}' || character === ']') {
      this.#depth--
      this.#end()
    }
  }

  #end(): void {
    this.#inString = false
    this.hasEnded = this.#depth <= 0
  }
}
