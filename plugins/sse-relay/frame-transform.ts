import { Buffer } from 'node:buffer'
import type { Frame } from './frames.ts'

/** What a relay changes between the upstream and the client. */
export interface FrameTransformOptions {
  /**
   * Called for each frame in order, before it is sent. Not called for the rest of a line end (`restOfLine`), which
   * follows the frame before.
   *
   * Returns undefined to pass the frame unchanged, bytes to replace it, or null to drop it. Bytes must end with a
   * complete event, comment or blank line. An exception ends the stream as `broken`.
   */
  readonly onFrame?: (frame: Frame) => Uint8Array | null | undefined
  /** A complete event that clients ignore, or a comment. Default: a comment. */
  readonly heartbeat?: Uint8Array
}

/**
 * Turns frames into the bytes for the client: applies `onFrame`, and inserts comments and a last event between frames
 * only.
 */
export class FrameTransform {
  readonly #options: FrameTransformOptions
  #failure: { readonly error: unknown } | undefined
  #closing = ''
  /** Whether the first frame has been passed or dropped, and whether a comment was inserted before it. */
  #started = false
  #commentBefore = false
  /** Whether the output of the last frame ends with a CR. */
  #afterReturn = false

  constructor(options: FrameTransformOptions) {
    this.#options = options
  }

  /**
   * Returns the bytes to send for some frames; undefined for none.
   *
   * Throws the error of `onFrame`. If bytes of earlier frames remain to be sent, it returns them, and `check` throws
   * the error.
   */
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
    // Most chunks are one event that passes unchanged, so they need no copy.
    return parts ? Buffer.concat(parts) : only
  }

  /** Throws the pending error of `onFrame`, after the frames before it have been sent. */
  check(): void {
    if (this.#failure) throw this.#failure.error
  }

  /** Returns a heartbeat to send between two frames: by default a comment. */
  heartbeat(): Uint8Array {
    if (!this.#started) this.#commentBefore = true
    return this.#options.heartbeat ?? keepAlive
  }

  /** Returns bytes to send after the last frame. If that frame is incomplete, they start with the missing line ends. */
  append(bytes: Uint8Array): Uint8Array {
    return this.#closing === '' ? bytes : Buffer.concat([encoder.encode(this.#closing), bytes])
  }

  #passOne(frame: Frame): Uint8Array | null {
    // The LF of a dropped event would be an additional blank line.
    if (frame.restOfLine) return this.#afterReturn ? frame.bytes : null
    const bytes = this.#transform(frame)
    this.#afterReturn = bytes !== null && bytes[bytes.length - 1] === CR
    return bytes
  }

  #transform(frame: Frame): Uint8Array | null {
    const replacement = this.#options.onFrame?.(frame)
    const first = !this.#started
    this.#started = true
    if (replacement === null) return null
    if (frame.missingEnd) this.#closing = replacement ? '\n\n' : frame.missingEnd
    if (replacement) return replacement
    // After a comment the BOM is no longer at the start of the stream, where alone it is ignored: it would become part
    // of a field name.
    return first && this.#commentBefore && startsWithBom(frame.bytes) ? frame.bytes.subarray(3) : frame.bytes
  }
}

const CR = 13
const encoder = new TextEncoder()
const keepAlive = encoder.encode(': keep-alive\n\n')

const startsWithBom = (bytes: Uint8Array): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
