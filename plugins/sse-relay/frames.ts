import { decodeUtf8 } from '../shared/text.ts'
import { ByteBuffer } from './byte-buffer.ts'
import { parseEvent, type SseEvent } from './event.ts'

/**
 * A part of a stream that ends after a complete event, comment or blank line. The concatenated bytes of all frames are
 * the stream.
 */
export interface Frame {
  readonly bytes: Uint8Array
  /** Undefined for a comment, a blank line, or fields without data. */
  readonly event?: SseEvent
  /** Only for an incomplete last frame: the missing line ends. */
  readonly missingEnd?: string
  /**
   * The frame is only the LF of a CRLF whose CR ended the frame before. It must be passed or dropped together with that
   * frame.
   */
  readonly restOfLine?: true
}

/** An event, complete or not, exceeds the maximum number of bytes. */
export class EventTooLargeError extends Error {
  constructor(maxEventBytes: number) {
    super(`an event of more than ${maxEventBytes} bytes`)
    this.name = 'EventTooLarge'
  }
}

/** Options of `createFrameSplitter`. */
export interface FrameSplitterOptions {
  /** Maximum number of bytes of a frame, complete or not. Default 16 MiB. */
  readonly maxEventBytes?: number
  /** Parses the event in the text of a frame, for example with more properties. Default `parseEvent`. */
  readonly parse?: (text: string) => SseEvent | undefined
  /**
   * Returns the event for the bytes from its first line to its blank line, if they resemble an earlier event; else
   * undefined.
   *
   * Recognised bytes are neither split nor decoded. Default: all events are parsed.
   */
  readonly recognise?: (bytes: Uint8Array) => SseEvent | undefined
  /**
   * Prepares the event of a frame of more than 64 KiB, for example by parsing its data over several turns of the event
   * loop. `readFrames` returns the frame afterwards. Default: nothing.
   */
  readonly prepare?: (event: SseEvent) => Promise<void>
}

/** Splits the chunks of one stream into frames. */
export interface FrameSplitter {
  /** The error that all further calls of `push` throw. */
  readonly failure: EventTooLargeError | undefined
  /**
   * Returns the frames that the chunk completes.
   *
   * Throws `EventTooLargeError`, and again in each further call. If complete frames precede the event that is too
   * large, it returns them, and the next call throws.
   */
  push(chunk: Uint8Array): Frame[]
  /**
   * Returns the rest at the end of the stream. It may contain an event without a blank line, because some clients
   * accept such an event.
   */
  end(): Frame | undefined
}

/**
 * Creates a splitter of a stream into frames, for any boundaries of its chunks (WHATWG HTML, section "Parsing an event
 * stream").
 *
 * A comment outside an event is a frame of its own. A CR ends a line immediately, also that of a blank line: if the
 * next chunk starts with the LF of a CRLF, this LF is a separate frame with `restOfLine`.
 */
export const createFrameSplitter = (options: FrameSplitterOptions = {}): FrameSplitter =>
  new BufferedFrameSplitter(options)

class BufferedFrameSplitter implements FrameSplitter {
  readonly #maxEventBytes: number
  readonly #parsers: Pick<FrameSplitterOptions, 'parse' | 'recognise'>
  readonly #pending = new ByteBuffer()
  #failure: EventTooLargeError | undefined
  /** Number of BOM bytes seen at the start of the stream; undefined after the check for a BOM. */
  #bomBytesSeen: number | undefined = 0
  /** Whether the next frame starts with a BOM. */
  #startsWithBom = false
  /** Whether the pending bytes contain a complete field line. */
  #inEvent = false
  /** Whether the current line is not empty, and whether it is a comment. */
  #inLine = false
  #inComment = false
  /** Whether the last byte was a CR. */
  #afterReturn = false

  constructor(options: FrameSplitterOptions) {
    this.#maxEventBytes = options.maxEventBytes ?? 2 ** 24
    this.#parsers = options
  }

  get failure(): EventTooLargeError | undefined {
    return this.#failure
  }

  push(chunk: Uint8Array): Frame[] {
    if (this.#failure) throw this.#failure
    // Most chunks of most streams are one event that resembles the one before.
    const event = this.#isOneFrame(chunk) ? this.#parsers.recognise?.(chunk) : undefined
    if (event) return [{ bytes: chunk, event }]
    const frames: Frame[] = []
    try {
      this.#scan(chunk, frames)
    } catch (error) {
      if (!(error instanceof EventTooLargeError)) throw error
      this.#failure = error
      this.#pending.take()
      if (frames.length === 0) throw error
    }
    return frames
  }

  end(): Frame | undefined {
    if (this.#failure) throw this.#failure
    if (this.#pending.length === 0) return undefined
    if (this.#bomBytesSeen) this.#inLine = true
    return { ...this.#frame(this.#pending.take(), true), missingEnd: this.#closing() }
  }

  /**
   * Whether a chunk starts a frame, is below the size limit, and ends with a LF. After a CR the LF of a CRLF could
   * still follow.
   */
  #isOneFrame(chunk: Uint8Array): boolean {
    return (
      this.#pending.length === 0 &&
      !this.#afterReturn &&
      this.#bomBytesSeen === undefined &&
      chunk[chunk.length - 1] === LF &&
      chunk.length <= this.#maxEventBytes
    )
  }

  /** Returns the position after the bytes of a BOM. */
  #skipBom(chunk: Uint8Array): number {
    let at = 0
    while (this.#bomBytesSeen !== undefined && at < chunk.length) {
      if (chunk[at] === bom[this.#bomBytesSeen]) {
        at++
        if (++this.#bomBytesSeen < bom.length) continue
        this.#startsWithBom = true
      } else if (this.#bomBytesSeen > 0) {
        this.#inLine = true
        this.#inComment = false
      }
      this.#bomBytesSeen = undefined
    }
    return at
  }

  #frame(bytes: Uint8Array, mayHoldEvent: boolean): Frame {
    const text = this.#startsWithBom ? bytes.subarray(bom.length) : bytes
    this.#startsWithBom = false
    const event = mayHoldEvent ? this.#parse(text) : undefined
    return event ? { bytes, event } : { bytes }
  }

  #parse(bytes: Uint8Array): SseEvent | undefined {
    const event = this.#parsers.recognise?.(bytes)
    if (event) return event
    const text = decodeUtf8(bytes)
    return this.#parsers.parse ? this.#parsers.parse(text) : parseEvent(text)
  }

  /** Returns the pending bytes and those of the chunk up to `end`. */
  #cut(chunk: Uint8Array, start: number, end: number): Uint8Array {
    const pending = this.#pending
    if (pending.length + end - start > this.#maxEventBytes) throw new EventTooLargeError(this.#maxEventBytes)
    const part = start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end)
    if (pending.length === 0) return part
    pending.add(part)
    return pending.take()
  }

  #scan(chunk: Uint8Array, frames: Frame[]): void {
    let start = 0
    let at = this.#skipBom(chunk)
    if (this.#afterReturn && at < chunk.length) {
      this.#afterReturn = false
      if (chunk[at] === LF) {
        at++
        if (!this.#inEvent) {
          frames.push({ ...this.#frame(this.#cut(chunk, start, at), false), restOfLine: true })
          start = at
        }
      }
    }
    let nextLf = indexOrEnd(chunk, LF, at)
    let nextCr = indexOrEnd(chunk, CR, at)
    while (at < chunk.length) {
      const end = Math.min(nextLf, nextCr)
      if (!this.#inLine && end > at) {
        this.#inLine = true
        this.#inComment = chunk[at] === COLON
      }
      if (end === chunk.length) break
      at = end + 1
      if (end === nextCr) {
        if (at === chunk.length) this.#afterReturn = true
        else if (chunk[at] === LF) at++
        nextCr = indexOrEnd(chunk, CR, at)
      }
      if (nextLf < at) nextLf = indexOrEnd(chunk, LF, at)
      const blank = !this.#inLine
      this.#inLine = false
      if (blank || (this.#inComment && !this.#inEvent)) {
        frames.push(this.#frame(this.#cut(chunk, start, at), this.#inEvent))
        start = at
        this.#inEvent = false
      } else this.#inEvent = true
    }
    if (this.#pending.length + chunk.length - start > this.#maxEventBytes)
      throw new EventTooLargeError(this.#maxEventBytes)
    if (start < chunk.length) this.#pending.add(chunk.subarray(start))
  }

  #closing(): string {
    if (this.#inLine) return this.#inComment && !this.#inEvent ? '\n' : '\n\n'
    if (!this.#inEvent) return ''
    // A LF after a CR belongs to the same line end, so one LF alone would not be a blank line.
    return this.#afterReturn ? '\n\n' : '\n'
  }
}

const LF = 10
const CR = 13
const COLON = 58
/** The byte order mark (BOM) U+FEFF in UTF-8. */
const bom = [0xef, 0xbb, 0xbf]

/** Position of a byte, or the length of the chunk. */
const indexOrEnd = (chunk: Uint8Array, byte: number, from: number): number => {
  const at = chunk.indexOf(byte, from)
  return at === -1 ? chunk.length : at
}
