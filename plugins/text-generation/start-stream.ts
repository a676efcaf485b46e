import type { Clock } from '../shared/clock.ts'
import { UpstreamInvalidError } from '../shared/upstream-error.ts'
import { type FrameReader, type FrameSplitterOptions, readErrorEvent, readFirstEvent } from '../sse-relay/index.ts'
import { StreamError } from './assembly.ts'
import { type Call, framesOf } from './call.ts'
import { jsonOf, readEvent } from './events/event.ts'

export interface StartStreamOptions {
  /** Cancels the stream at any time. Not every body aborts with the signal of its request. */
  readonly signal: AbortSignal
  /** Milliseconds after which it returns without the first event. Default: no limit. */
  readonly maxSilenceMs?: number
  readonly clock: Clock
  /** How to parse events. Default: each event on its own. */
  readonly events?: FrameSplitterOptions
}

/**
 * Waits for the first event of a stream, and returns a reader of all frames, from the first on.
 *
 * Throws StreamError when the first event is an error, UpstreamInvalidError when there is no event.
 */
export const startStream = async (
  call: Pick<Call, 'issued'>,
  body: ReadableStream<Uint8Array> | null,
  { signal, maxSilenceMs, clock, events = { parse: readEvent } }: StartStreamOptions,
): Promise<FrameReader> => {
  if (!body) throw new UpstreamInvalidError('the response has no body')
  const reader = framesOf(call, body, events)
  cancelOnAbort(reader, signal)
  try {
    const first = await readFirstEvent(reader, { maxWaitMs: maxSilenceMs, clock })
    signal.throwIfAborted()
    if (first.ended) throw new UpstreamInvalidError('the stream has no event')
    const streamError = first.event && readErrorEvent(first.event, jsonOf(first.event))
    if (streamError) throw new StreamError('the first event is an error', streamError)
    return first.reader
  } catch (error) {
    // The upstream might send an invalid stream without an end.
    await reader.cancel()
    throw error
  }
}

/**
 * Outside `startStream`: a listener there would keep the call, with the request's body, in memory as long as the stream
 * lasts.
 */
const cancelOnAbort = (reader: FrameReader, signal: AbortSignal): void =>
  signal.addEventListener('abort', () => void reader.cancel(signal.reason), { once: true })
