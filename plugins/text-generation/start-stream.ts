import type { Clock } from '../shared/clock.ts'
import { errorOf, type FrameReader, type FramesOptions, readFirstEvent } from '../sse-relay/index.ts'
import { UpstreamInvalidError } from '../upstream-proxy/index.ts'
import { StreamError } from './assembly.ts'
import { type Call, framesOf } from './call.ts'
import { jsonOf, readEvent } from './events/event.ts'

export interface StartStreamOptions {
  /** Gives the stream up, now or later: a body may know nothing of the signal that its request was made with. */
  readonly signal: AbortSignal
  /** Milliseconds of silence after which the first event is not waited for any longer. Default: any time. */
  readonly maxSilenceMs?: number
  readonly clock: Clock
  /** How events are read. Default: each for itself. */
  readonly events?: FramesOptions
}

/**
 * Reads a stream up to its first event, and gives all its frames, from the first on. Throws StreamError when that event is an error, Invalid when there is none.
 */
export const startStream = async (
  call: Pick<Call, 'issued'>,
  body: ReadableStream<Uint8Array> | null,
  { signal, maxSilenceMs, clock, events = { parse: readEvent } }: StartStreamOptions,
): Promise<FrameReader> => {
  if (!body) throw new UpstreamInvalidError('an answer without a body')
  const reader = framesOf(call, body, events)
  cancelOnAbort(reader, signal)
  try {
    const first = await readFirstEvent(reader, { patienceMs: maxSilenceMs, clock })
    signal.throwIfAborted()
    if (first.ended) throw new UpstreamInvalidError('a stream without an event')
    const streamError = first.event && errorOf(first.event, jsonOf(first.event))
    if (streamError) throw new StreamError('an error instead of an answer', streamError)
    return first.reader
  } catch (error) {
    // An upstream may send for ever, also what nobody can read.
    await reader.cancel()
    throw error
  }
}

/** Apart from the function above, whose call, with the request's body, a listener in it would hold as long as the stream lasts. */
const cancelOnAbort = (reader: FrameReader, signal: AbortSignal): void =>
  signal.addEventListener('abort', () => void reader.cancel(signal.reason), { once: true })
