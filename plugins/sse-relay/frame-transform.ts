import { Buffer } from 'node:buffer'
import type { Frame } from './frames.ts'
import type { RelayOptions } from './relay.ts'

/** What goes through, of frames as they come and of what is put between and behind them. */
export class FrameTransform {
  readonly #options: Pick<RelayOptions, 'onFrame'>
  #failure: { readonly error: unknown } | undefined
  #closing = ''
  /** Whether the stream's own start has been passed or dropped, and whether a comment has been put before it. */
  #begun = false
  #preceded = false
  /** Whether what became of the frame before ends with a CR. */
  #afterReturn = false

  constructor(options: Pick<RelayOptions, 'onFrame'>) {
    this.#options = options
  }

  /** What is to be sent for some frames; undefined for nothing. Throws what `onFrame` threw, unless there is something to send first. */
  pass(frames: readonly Frame[]): Uint8Array | undefined {
    let only: Uint8Array | undefined
    let parts: Uint8Array[] | undefined
    try {
      for (const frame of frames) {
        const bytes = this.#passOne(frame)
        if (!bytes || bytes.length === 0) continue
        if (only === undefined) only = bytes
        else if (parts) parts.push(bytes)
        else parts = [only, bytes]
      }
    } catch (error) {
      if (only === undefined) throw error
      this.#failure = { error }
    }
    // Most chunks are one event, which goes as it came.
    return parts ? Buffer.concat(parts) : only
  }

  /** Throws what `onFrame` threw, now that what came before it has been sent. */
  check(): void {
    if (this.#failure) throw this.#failure.error
  }

  /** A comment for between two frames. */
  comment(): Uint8Array {
    if (!this.#begun) this.#preceded = true
    return keepAlive
  }

  /** Something for after the last frame, which is closed first if the stream ended within it. */
  append(bytes: Uint8Array): Uint8Array {
    return this.#closing === '' ? bytes : Buffer.concat([encoder.encode(this.#closing), bytes])
  }

  #passOne(frame: Frame): Uint8Array | null {
    // Behind a dropped event its LF would be a blank line that nobody sent.
    if (frame.restOfLine) return this.#afterReturn ? frame.bytes : null
    const bytes = this.#become(frame)
    this.#afterReturn = bytes !== null && bytes[bytes.length - 1] === CR
    return bytes
  }

  #become(frame: Frame): Uint8Array | null {
    const instead = this.#options.onFrame?.(frame)
    const first = !this.#begun
    this.#begun = true
    if (instead === null) return null
    if (frame.closing) this.#closing = instead ? '\n\n' : frame.closing
    if (instead) return instead
    // A byte order mark is none anywhere but at the start: it would become part of a field's name.
    return first && this.#preceded && isMarked(frame.bytes) ? frame.bytes.subarray(3) : frame.bytes
  }
}

const CR = 13
const encoder = new TextEncoder()
const keepAlive = encoder.encode(': keep-alive\n\n')

const isMarked = (bytes: Uint8Array): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
