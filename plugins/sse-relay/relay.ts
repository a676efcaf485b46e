import { type Clock, systemClock } from '../shared/clock.ts'
import type { Frame } from './events.ts'
import { createHeartbeat } from './heartbeat.ts'
import { createPassage } from './passage.ts'
import type { FrameReader } from './reader.ts'

/** How an upstream's stream ended. */
export type End =
  /** It was closed properly. */
  | { readonly kind: 'complete' }
  /** It was reset or cut, an event was too large, it was silent for too long, or `onFrame` threw. */
  | { readonly kind: 'broken'; readonly error: unknown }

export interface RelayOptions {
  /**
   * Told of every frame in order, before it is passed on. Undefined: passed as it is; bytes: these instead, which should end where nothing is half said; null:
   * dropped. What it throws is the error of a broken end.
   */
  readonly onFrame?: (frame: Frame) => Uint8Array | null | undefined
  /**
   * Told once how the upstream ended. What it gives is appended, at the end of an event, and the stream closes. If it gives undefined, or is absent, the stream
   * ends as the upstream did: it closes, or breaks with the same error. What it throws breaks the stream too.
   */
  readonly onEnd?: (end: End) => Uint8Array | undefined | Promise<Uint8Array | undefined>
  /** Called once, instead of `onEnd`, when the client left before the end. It cannot fail: what it throws is ignored. */
  readonly onLeave?: () => void
  /** The client's, if it has one: where it aborts, the client has left. A cancelled stream means the same, without any signal. */
  readonly signal?: AbortSignal
  /** More than 0. Milliseconds in which the client, waiting, heard nothing until a comment is sent to it. Default: none is sent. */
  readonly heartbeatMs?: number
  /** More than 0. Milliseconds in which the upstream, asked, sent not a byte until it counts as broken. Default: any time. */
  readonly maxSilenceMs?: number
  /** Default the system's. */
  readonly clock?: Clock
}

/** Throws RangeError for times that make no sense: a heartbeat without a pause would go on without end. */
export const checkTimes = ({ heartbeatMs, maxSilenceMs }: RelayOptions): void => {
  for (const [name, ms] of Object.entries({ heartbeatMs, maxSilenceMs })) {
    if (ms !== undefined && !(ms > 0)) throw new RangeError(`${name} must be more than 0`)
  }
}

/**
 * Frames as a stream of bytes, byte for byte where `onFrame` does not say otherwise. The upstream is read when the stream is, and given up when the stream is
 * cancelled, whatever it is at. Only whole frames are passed on, except for what is left when an upstream closes properly.
 */
export const relayFrames = (reader: FrameReader, options: RelayOptions = {}): ReadableStream<Uint8Array> => {
  const { onFrame, onEnd, onLeave, signal, heartbeatMs, maxSilenceMs, clock = systemClock } = options
  checkTimes(options)
  const passage = createPassage(onFrame)
  let controller: ReadableStreamDefaultController<Uint8Array>
  let ended = false
  let left = false
  /** Call the timers off. */
  let endSilence = () => {}
  let spare = () => {}

  const send = (bytes: Uint8Array) => {
    controller.enqueue(bytes)
    heartbeat.said()
  }
  const heartbeat = createHeartbeat(clock, heartbeatMs, () => {
    // One that has not been read yet is enough.
    if ((controller.desiredSize ?? 0) === 0) controller.enqueue(passage.comment())
  })

  const settle = () => {
    heartbeat.rest()
    endSilence()
    spare()
    signal?.removeEventListener('abort', onAbort)
  }

  const leave = (reason: unknown): Promise<void> => {
    settle()
    if (left) return Promise.resolve()
    left = true
    try {
      if (!ended) onLeave?.()
    } catch {}
    return reader.cancel(reason)
  }

  const onAbort = () => {
    void leave(signal?.reason)
    // Not at once: a server that knows of it cancels the stream in a moment, and would report an error that came before.
    spare = clock.at(clock.now(), () => controller.error(signal?.reason))
  }

  const next = () =>
    new Promise<readonly Frame[] | undefined>((resolve, reject) => {
      if (maxSilenceMs !== undefined) {
        endSilence = clock.at(clock.now() + maxSilenceMs, () => reject(new Error(`not a byte for ${maxSilenceMs} ms`)))
      }
      reader.next().then(resolve, reject)
    }).finally(() => endSilence())

  const end = async (how: End) => {
    ended = true
    heartbeat.rest()
    if (how.kind === 'broken') void reader.cancel(how.error)
    let last: Uint8Array | undefined
    try {
      last = await onEnd?.(how)
    } finally {
      if (!left) settle()
    }
    if (left) return
    if (last === undefined && how.kind === 'broken') throw how.error
    if (last && last.length > 0) controller.enqueue(passage.append(last))
    controller.close()
  }

  return new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given
        if (signal?.aborted) onAbort()
        else signal?.addEventListener('abort', onAbort, { once: true })
      },
      async pull() {
        heartbeat.wait()
        try {
          // What breaks is said when all that came before it has been read: an error throws away what has not.
          passage.check()
          for (;;) {
            const frames = await next()
            if (left) return
            const bytes = frames && passage.pass(frames)
            if (bytes) send(bytes)
            if (!frames) await end({ kind: 'complete' })
            if (!frames || bytes) return
          }
        } catch (error) {
          if (left) return
          if (ended) throw error
          await end({ kind: 'broken', error })
        } finally {
          heartbeat.rest()
        }
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
}
