import { decodeUtf8 } from '../shared/utf8.ts'
import { ByteBuffer } from './byte-buffer.ts'
import { parseEvent, type SseEvent } from './event.ts'

/** A stretch of a stream that ends where nothing is half said. The bytes of all frames, joined, are the stream. */
export interface Frame {
  readonly bytes: Uint8Array
  /** Undefined: a comment, a blank line, fields without data. */
  readonly event?: SseEvent
  /** Only of a last frame that the stream ended within: line ends that would finish it. */
  readonly closing?: string
  /** Whether it is nothing but the LF of a CRLF that the frame before it ended within: it belongs where that one went. */
  readonly restOfLine?: true
}

/** An event, or what may yet become one, is longer than was agreed. */
export class EventTooLargeError extends Error {
  constructor(maxEventBytes: number) {
    super(`an event of more than ${maxEventBytes} bytes`)
    this.name = 'EventTooLarge'
  }
}

export interface FramesOptions {
  /** Bytes of one frame, unfinished or not. Default 16 MiB. */
  readonly maxEventBytes?: number
  /** The event in the text of a frame, for whoever knows more of its data than that it is text. Default `parseEvent`. */
  readonly parse?: (text: string) => SseEvent | undefined
  /**
   * The event that some bytes are, from its first line to the blank line behind it, for whoever knows them from events before: so they need be neither split nor decoded. Undefined: they
   * are anything else. Default: every event is parsed.
   */
  readonly recognise?: (bytes: Uint8Array) => SseEvent | undefined
}

export interface Frames {
  /** What `push` throws from now on. */
  readonly failure: EventTooLargeError | undefined
  /**
   * Frames that are complete now. Throws EventTooLarge, and does so again from then on; where frames were complete before the one that is too large, they come
   * first, and the next call throws.
   */
  push(chunk: Uint8Array): Frame[]
  /** What is left at the end. Its event comes too, though no blank line says that it is whole: clients differ in what they make of it. */
  end(): Frame | undefined
}

/**
 * Splits a stream into frames, wherever its chunks begin and end (WHATWG HTML, section "Parsing an event stream"). A comment outside an event is a frame as soon
 * as its line ends. A CR ends its line at once, and with a blank line an event: a LF that comes with the next chunk is a frame of its own, marked as the rest of that line.
 */
export const createFrames = (options: FramesOptions = {}): Frames => new Splitter(options)

class Splitter implements Frames {
  readonly #maxEventBytes: number
  readonly #events: Pick<FramesOptions, 'parse' | 'recognise'>
  readonly #pending = new ByteBuffer()
  #failure: EventTooLargeError | undefined
  /** Bytes of a byte order mark at the very start that have been seen; undefined once it is known whether there is one. */
  #marked: number | undefined = 0
  /** Whether the next frame begins with a byte order mark. */
  #withMark = false
  /** What is pending: a line of a field, a finished one; a line that has begun, that is a comment; and whether a CR was the last byte. */
  #inEvent = false
  #inLine = false
  #inComment = false
  #afterReturn = false

  constructor(options: FramesOptions) {
    this.#maxEventBytes = options.maxEventBytes ?? 2 ** 24
    this.#events = options
  }

  get failure(): EventTooLargeError | undefined {
    return this.#failure
  }

  push(chunk: Uint8Array): Frame[] {
    if (this.#failure) throw this.#failure
    // Most chunks of most streams are one event like the one before.
    const event = this.#isOneFrame(chunk) ? this.#events.recognise?.(chunk) : undefined
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
    if (this.#marked) this.#inLine = true
    return { ...this.#frame(this.#pending.take(), true), closing: this.#closing() }
  }

  /** Whether a chunk begins where a frame does and, if an event in it ends where it does, says so: behind a CR there may be more. */
  #isOneFrame(chunk: Uint8Array): boolean {
    return (
      this.#pending.length === 0 &&
      !this.#afterReturn &&
      this.#marked === undefined &&
      chunk[chunk.length - 1] === LF &&
      chunk.length <= this.#maxEventBytes
    )
  }

  /** Position after the bytes of a byte order mark. */
  #skipMark(chunk: Uint8Array): number {
    let at = 0
    while (this.#marked !== undefined && at < chunk.length) {
      if (chunk[at] === mark[this.#marked]) {
        at++
        if (++this.#marked < mark.length) continue
        this.#withMark = true
      } else if (this.#marked > 0) {
        this.#inLine = true
        this.#inComment = false
      }
      this.#marked = undefined
    }
    return at
  }

  #frame(bytes: Uint8Array, mayHoldEvent: boolean): Frame {
    const text = this.#withMark ? bytes.subarray(mark.length) : bytes
    this.#withMark = false
    const event = mayHoldEvent ? this.#eventIn(text) : undefined
    return event ? { bytes, event } : { bytes }
  }

  #eventIn(bytes: Uint8Array): SseEvent | undefined {
    const event = this.#events.recognise?.(bytes)
    if (event) return event
    const text = decodeUtf8(bytes)
    return this.#events.parse ? this.#events.parse(text) : parseEvent(text)
  }

  /** The bytes from what is pending to a place in the chunk. */
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
    let at = this.#skipMark(chunk)
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
    let feed = find(chunk, LF, at)
    let back = find(chunk, CR, at)
    while (at < chunk.length) {
      const end = Math.min(feed, back)
      if (!this.#inLine && end > at) {
        this.#inLine = true
        this.#inComment = chunk[at] === COLON
      }
      if (end === chunk.length) break
      at = end + 1
      if (end === back) {
        if (at === chunk.length) this.#afterReturn = true
        else if (chunk[at] === LF) at++
        back = find(chunk, CR, at)
      }
      if (feed < at) feed = find(chunk, LF, at)
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
    // A LF after a CR would only be the rest of the same line end.
    return this.#afterReturn ? '\n\n' : '\n'
  }
}

const LF = 10
const CR = 13
const COLON = 58
/** The byte order mark U+FEFF. */
const mark = [0xef, 0xbb, 0xbf]

/** Position of a byte, or the end. */
const find = (chunk: Uint8Array, byte: number, from: number): number => {
  const at = chunk.indexOf(byte, from)
  return at === -1 ? chunk.length : at
}
