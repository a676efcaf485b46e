import { parseEvent, type SseEvent } from './event.ts'
import { Pending } from './pending.ts'

/** A stretch of a stream that ends where nothing is half said. The bytes of all frames, joined, are the stream. */
export interface Frame {
  readonly bytes: Uint8Array
  /** Undefined: a comment, a blank line, fields without data. */
  readonly event?: SseEvent
  /** Only of a last frame that the stream ended within: line ends that would finish it. */
  readonly closing?: string
}

/** An event, or what may yet become one, is longer than was agreed. */
export class EventTooLarge extends Error {
  constructor(maxEventBytes: number) {
    super(`an event of more than ${maxEventBytes} bytes`)
    this.name = 'EventTooLarge'
  }
}

export interface FramesOptions {
  /** Bytes of one frame, unfinished or not. Default 16 MiB. */
  readonly maxEventBytes?: number
}

export interface Frames {
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
 * as its line ends. A CR ends its line at once: a LF that comes with the next chunk belongs to the next frame, where it means nothing.
 */
export const createFrames = ({ maxEventBytes = 2 ** 24 }: FramesOptions = {}): Frames => {
  const pending = new Pending()
  let failure: EventTooLarge | undefined
  /** Bytes of a byte order mark at the very start that have been seen; undefined once it is known whether there is one. */
  let marked: number | undefined = 0
  /** Whether the next frame begins with a byte order mark. */
  let withMark = false
  /** What is pending: a line of a field, a finished one; a line that has begun, that is a comment; and whether a CR was the last byte. */
  let inEvent = false
  let inLine = false
  let inComment = false
  let afterReturn = false

  /** Position after the bytes of a byte order mark. */
  const skipMark = (chunk: Uint8Array): number => {
    let at = 0
    while (marked !== undefined && at < chunk.length) {
      if (chunk[at] === mark[marked]) {
        at++
        if (++marked < mark.length) continue
        withMark = true
      } else if (marked > 0) {
        inLine = true
        inComment = false
      }
      marked = undefined
    }
    return at
  }

  const toFrame = (bytes: Uint8Array, mayHoldEvent: boolean): Frame => {
    const text = withMark ? bytes.subarray(mark.length) : bytes
    withMark = false
    const event = mayHoldEvent ? parseEvent(decoder.decode(text)) : undefined
    return event ? { bytes, event } : { bytes }
  }

  const scan = (chunk: Uint8Array, frames: Frame[]): void => {
    let start = 0
    const cut = (end: number) => {
      if (pending.length + end - start > maxEventBytes) throw new EventTooLarge(maxEventBytes)
      const part = chunk.subarray(start, end)
      start = end
      if (pending.length === 0) return part
      pending.add(part)
      return pending.take()
    }
    let at = skipMark(chunk)
    if (afterReturn && at < chunk.length) {
      afterReturn = false
      if (chunk[at] === LF) {
        at++
        if (!inEvent) frames.push(toFrame(cut(at), false))
      }
    }
    let feed = find(chunk, LF, at)
    let back = find(chunk, CR, at)
    while (at < chunk.length) {
      const end = Math.min(feed, back)
      if (!inLine && end > at) {
        inLine = true
        inComment = chunk[at] === COLON
      }
      if (end === chunk.length) break
      at = end + 1
      if (end === back) {
        if (at === chunk.length) afterReturn = true
        else if (chunk[at] === LF) at++
        back = find(chunk, CR, at)
      }
      if (feed < at) feed = find(chunk, LF, at)
      const blank = !inLine
      inLine = false
      if (blank || (inComment && !inEvent)) {
        frames.push(toFrame(cut(at), inEvent))
        inEvent = false
      } else inEvent = true
    }
    if (pending.length + chunk.length - start > maxEventBytes) throw new EventTooLarge(maxEventBytes)
    if (start < chunk.length) pending.add(chunk.subarray(start))
  }

  const closing = (): string => {
    if (inLine) return inComment && !inEvent ? '\n' : '\n\n'
    if (!inEvent) return ''
    // A LF after a CR would only be the rest of the same line end.
    return afterReturn ? '\n\n' : '\n'
  }

  return {
    push(chunk) {
      if (failure) throw failure
      const frames: Frame[] = []
      try {
        scan(chunk, frames)
      } catch (error) {
        if (!(error instanceof EventTooLarge)) throw error
        failure = error
        pending.take()
        if (frames.length === 0) throw error
      }
      return frames
    },
    end() {
      if (failure) throw failure
      if (pending.length === 0) return undefined
      if (marked) inLine = true
      return { ...toFrame(pending.take(), true), closing: closing() }
    },
  }
}

const LF = 10
const CR = 13
const COLON = 58
/** The byte order mark U+FEFF. */
const mark = [0xef, 0xbb, 0xbf]

/** Only the mark at the start of the stream is none of its text: any other is left in. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Position of a byte, or the end. */
const find = (chunk: Uint8Array, byte: number, from: number): number => {
  const at = chunk.indexOf(byte, from)
  return at === -1 ? chunk.length : at
}
