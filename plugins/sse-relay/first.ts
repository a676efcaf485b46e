import { type Clock, systemClock } from '../shared/clock.ts'
import type { SseEvent } from './event.ts'
import type { Frame } from './events.ts'
import type { FrameReader } from './reader.ts'

export interface FirstOptions {
  /** Milliseconds of silence after which the first event is not waited for any longer. Default: any time. */
  readonly patienceMs?: number
  /** Default the system's. */
  readonly clock?: Clock
}

/** How a stream begins. */
export interface First {
  /** Undefined when it was too long in coming, or there was none. */
  readonly event: SseEvent | undefined
  /** Whether the stream ended without any event. */
  readonly ended: boolean
  /** Gives all frames, those before the first event and its own too. */
  readonly reader: FrameReader
}

/** Reads up to the first event, while everything about the answer can still be decided. Rejects as the reader does. */
export const readFirst = async (
  reader: FrameReader,
  { patienceMs, clock = systemClock }: FirstOptions = {},
): Promise<First> => {
  const read: (readonly Frame[])[] = []
  for (;;) {
    const next = reader.next()
    const frames = await soon(next, patienceMs, clock)
    if (frames === late) {
      // Whoever leaves before the next read leaves nobody to hear how this one ends.
      next.catch(() => {})
      return { event: undefined, ended: false, reader: after(read, reader, next) }
    }
    if (!frames) return { event: undefined, ended: true, reader: after(read, reader) }
    read.push(frames)
    const event = frames.find((frame) => frame.event)?.event
    if (event) return { event, ended: false, reader: after(read, reader) }
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
const after = (
  read: (readonly Frame[])[],
  reader: FrameReader,
  pending?: Promise<readonly Frame[] | undefined>,
): FrameReader => {
  let begun = pending
  return {
    async next() {
      const frames = read.shift()
      if (frames) return frames
      const next = begun ?? reader.next()
      begun = undefined
      return next
    },
    cancel: (reason) => reader.cancel(reason),
  }
}
