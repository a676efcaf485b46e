/** Bytes that come in pieces and are wanted as one. Adding costs as much as the piece is long, however many have come before. */
export class ByteBuffer {
  #bytes = none
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.length))
      larger.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = larger
    }
    this.#bytes.set(piece, this.#length)
    this.#length = length
  }

  /** All that was added since the last time. */
  take(): Uint8Array {
    const whole = this.#bytes.subarray(0, this.#length)
    this.#bytes = none
    this.#length = 0
    return whole
  }
}

const none = new Uint8Array(0)
