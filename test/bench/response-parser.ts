const headEnd = Buffer.from('\r\n\r\n')

/**
 * A parser for consecutive responses on one connection: the part of HTTP/1.1 (RFC 9112 section 6) that the targets send, Content-Length or chunks.
 * It parses only what is necessary, because its own CPU time disturbs the measurement.
 */
export class ResponseParser {
  /** Status of the current response. 0: its head is not complete. */
  status = 0
  /** Received bytes of its body, with chunk framing. */
  bytes = 0
  #kept: Buffer | undefined
  /** Missing bytes of the body, or of the chunk with its line end. -1: a head or a chunk-size line is next. */
  #left = -1
  #chunked = false
  #last = false

  /** Parses received bytes. Returns whether they complete the response. Throws an Error for an invalid chunk. */
  feed(data: Buffer): boolean {
    let bytes = this.#kept ? Buffer.concat([this.#kept, data]) : data
    this.#kept = undefined
    if (this.status === 0) {
      const end = bytes.indexOf(headEnd)
      if (end < 0) return this.#keep(bytes)
      this.#readHead(bytes.toString('latin1', 0, end + 2).toLowerCase())
      bytes = bytes.subarray(end + 4)
    }
    this.bytes += bytes.length
    if (!this.#chunked) {
      this.#left -= bytes.length
      return this.#left <= 0 && this.#end()
    }
    let at = 0
    while (at < bytes.length) {
      if (this.#left < 0) {
        const end = bytes.indexOf(10, at)
        if (end < 0) {
          this.bytes -= bytes.length - at
          return this.#keep(bytes.subarray(at))
        }
        const size = Number.parseInt(bytes.toString('latin1', at, end), 16)
        if (Number.isNaN(size)) throw new Error('a chunk without a size')
        this.#last = size === 0
        this.#left = size + 2
        at = end + 1
      }
      const taken = Math.min(this.#left, bytes.length - at)
      at += taken
      this.#left -= taken
      if (this.#left === 0) {
        if (this.#last) return this.#end()
        this.#left = -1
      }
    }
    return false
  }

  #readHead(head: string): void {
    this.status = Number(head.slice(9, 12))
    this.bytes = 0
    const length = /\r\ncontent-length: *(\d+)\r\n/.exec(head)
    this.#chunked = !length && head.includes('\r\ntransfer-encoding: chunked\r\n')
    this.#last = false
    this.#left = length ? Number(length[1]) : this.#chunked ? -1 : 0
  }

  #keep(bytes: Buffer): false {
    this.#kept = Buffer.from(bytes)
    return false
  }

  #end(): true {
    this.#left = -1
    return true
  }

  /** Prepares for the next response. */
  reset(): void {
    this.status = 0
  }
}
