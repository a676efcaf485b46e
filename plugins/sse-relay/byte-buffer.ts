/**
 * Joins chunks of bytes into one array. It grows by doubling, so that the amortized cost of a chunk is linear in its
 * length.
 */
export class ByteBuffer {
  #bytes = empty
  #length = 0

  get length(): number {
    return this.#length
  }

  add(chunk: Uint8Array): void {
    const length = this.#length + chunk.length
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.length))
      larger.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = larger
    }
    this.#bytes.set(chunk, this.#length)
    this.#length = length
  }

  /** Returns all bytes added since the last call, and empties the buffer. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length)
    this.#bytes = empty
    this.#length = 0
    return taken
  }
}

const empty = new Uint8Array(0)
