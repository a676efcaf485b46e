import { type Clock, systemClock } from '../shared/clock.ts'
import type { SseEvent } from './event.ts'
import { EventTooLargeError, type Frame } from './frames.ts'
import type { FrameReader } from './reader.ts'

export interface FirstEventOptions {
  /** Milliseconds of silence after which the first event is not waited for any longer. Default: any time. */
  readonly patienceMs?: number
  /** Bytes of comments and the like, all of which are kept until the first event. Default 1 MiB. */
  readonly maxBytesBefore?: number
  /** Default the system's. */
  readonly clock?: Clock
}

/** How a stream begins. */
export interface FirstEvent {
  /** Undefined when it was too long in coming, or there was none. */
  readonly event: SseEvent | undefined
  /** Whether the stream ended without any event. */
  readonly ended: boolean
  /** Gives all frames, those before the first event and its own too. */
  readonly reader: FrameReader
}

/** Reads up to the first event, while everything about the answer can still be decided. Rejects as the reader does, and with EventTooLarge when too much comes before it. */
export const readFirstEvent = async (
  reader: FrameReader,
  { patienceMs, maxBytesBefore = 2 ** 20, clock = systemClock }: FirstEventOptions = {},
): Promise<FirstEvent> => {
  const read: (readonly Frame[])[] = []
  let before = 0
  for (;;) {
    const next = reader.next()
    const frames = await soon(next, patienceMs, clock)
    if (frames === late) {
      // Whoever leaves before the next read leaves nobody to hear how this one ends.
      next.catch(() => {})
      return { event: undefined, ended: false, reader: new Resumed(read, reader, next) }
    }
    if (!frames) return { event: undefined, ended: true, reader: new Resumed(read, reader) }
    read.push(frames)
    const event = frames.find((frame) => frame.event)?.event
    if (event) return { event, ended: false, reader: new Resumed(read, reader) }
    for (const { bytes } of frames) before += bytes.length
    if (before > maxBytesBefore) throw new EventTooLargeError(maxBytesBefore)
  }
}

const late = Symbol('late')

const soon = async <Value>(
  value: Promise<Value>,
  ms: number | undefined,
  clock: Clock,
): Promise<Value | typeof late> => {
  if (ms === undefined) return value
  let silence = () => {}
  const waited = new Promise<typeof late>((resolve) => {
    silence = clock.at(clock.now() + ms, () => resolve(late))
  })
  return Promise.race([value, waited]).finally(silence)
}

/** A reader whose first frames have been read already; `pending` is the reading that was begun. */
class Resumed implements FrameReader {
  readonly #read: (readonly Frame[])[]
  readonly #reader: FrameReader
  #pending: Promise<readonly Frame[] | undefined> | undefined

  constructor(read: (readonly Frame[])[], reader: FrameReader, pending?: Promise<readonly Frame[] | undefined>) {
    this.#read = read
    this.#reader = reader
    this.#pending = pending
  }

  next(): Promise<readonly Frame[] | undefined> {
    const frames = this.#read.shift()
    if (frames) return Promise.resolve(frames)
    const next = this.#pending ?? this.#reader.next()
    this.#pending = undefined
    return next
  }

  cancel(reason?: unknown): Promise<void> {
    return this.#reader.cancel(reason)
  }
}
