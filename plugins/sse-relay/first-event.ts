import { type Clock, systemClock } from '../shared/clock.ts'
import type { SseEvent } from './event.ts'
import { EventTooLargeError, type Frame } from './frames.ts'
import type { FrameReader } from './reader.ts'

/** Options of `readFirstEvent`. */
export interface FirstEventOptions {
  /** Maximum wait in milliseconds for the next bytes before the first event. Default: no limit. */
  readonly maxWaitMs?: number
  /** Maximum number of bytes before the first event, such as comments, which are buffered. Default 1 MiB. */
  readonly maxBytesBefore?: number
  /** Default: the system clock. */
  readonly clock?: Clock
}

/** The first event of a stream. */
export interface FirstEvent {
  /** Undefined if the maximum wait has passed, or the stream has ended without an event. */
  readonly event: SseEvent | undefined
  /** Whether the stream has ended without an event. */
  readonly ended: boolean
  /** Whether the stream has ended within the event. Default false. */
  readonly isIncomplete?: boolean
  /** Returns all frames, including the first event and those before it. */
  readonly reader: FrameReader
}

/**
 * Reads up to the first event, so that the server can choose the response's status before it sends anything.
 *
 * Rejects with the reader's error, or with `EventTooLargeError` if more than `maxBytesBefore` bytes precede the event.
 */
export const readFirstEvent = async (
  reader: FrameReader,
  { maxWaitMs, maxBytesBefore = 2 ** 20, clock = systemClock }: FirstEventOptions = {},
): Promise<FirstEvent> => {
  const buffered: (readonly Frame[])[] = []
  let bytesBefore = 0
  for (;;) {
    const next = reader.next()
    const frames = await within(next, maxWaitMs, clock)
    if (frames === timedOut) {
      // If the client disconnects before the next read, no code handles a rejection of this one.
      next.catch(() => {})
      return { event: undefined, ended: false, reader: new ResumedReader(buffered, reader, next) }
    }
    if (!frames) return { event: undefined, ended: true, reader: new ResumedReader(buffered, reader) }
    buffered.push(frames)
    const first = frames.find((frame) => frame.event)
    if (first) {
      const { event, missingEnd = '' } = first
      return { event, ended: false, isIncomplete: missingEnd !== '', reader: new ResumedReader(buffered, reader) }
    }
    for (const { bytes } of frames) bytesBefore += bytes.length
    if (bytesBefore > maxBytesBefore) throw new EventTooLargeError(maxBytesBefore)
  }
}

const timedOut = Symbol('timed out')

/** Resolves with the value, or with `timedOut` after `ms` milliseconds. */
const within = async <Value>(
  value: Promise<Value>,
  ms: number | undefined,
  clock: Clock,
): Promise<Value | typeof timedOut> => {
  if (ms === undefined) return value
  let cancelTimer = () => {}
  const timeout = new Promise<typeof timedOut>((resolve) => {
    cancelTimer = clock.at(clock.now() + ms, () => resolve(timedOut))
  })
  return Promise.race([value, timeout]).finally(cancelTimer)
}

/** A reader that first returns buffered frames. `pending` is a call of `next` that has not resolved yet. */
class ResumedReader implements FrameReader {
  readonly #buffered: (readonly Frame[])[]
  readonly #reader: FrameReader
  #pending: Promise<readonly Frame[] | undefined> | undefined

  constructor(buffered: (readonly Frame[])[], reader: FrameReader, pending?: Promise<readonly Frame[] | undefined>) {
    this.#buffered = buffered
    this.#reader = reader
    this.#pending = pending
  }

  next(): Promise<readonly Frame[] | undefined> {
    const frames = this.#buffered.shift()
    if (frames) return Promise.resolve(frames)
    const next = this.#pending ?? this.#reader.next()
    this.#pending = undefined
    return next
  }

  cancel(reason?: unknown): Promise<void> {
    return this.#reader.cancel(reason)
  }
}
