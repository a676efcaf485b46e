import { Elysia } from 'elysia'
import { responseFrom } from '../shared/byte-source.ts'
import { responseHeaders } from '../shared/headers.ts'
import { seedOf } from '../shared/seed.ts'
import type { SseEvent } from './event.ts'
import { type FirstEvent, type FirstEventOptions, readFirstEvent } from './first-event.ts'
import type { FramesOptions } from './frames.ts'
import { openStream, type StartRequest, upstreamProblem } from './open.ts'
import type { FrameReader } from './reader.ts'
import { checkTimes, type RelayOptions, relaySource } from './relay.ts'

export { responseHeaders } from '../shared/headers.ts'
export { answerError, errorOf, errorStatus } from './error.ts'
export { parseEvent, type SseEvent } from './event.ts'
export { type FirstEvent, type FirstEventOptions, readFirstEvent } from './first-event.ts'
export { createFrames, EventTooLargeError, type Frame, type Frames, type FramesOptions } from './frames.ts'
export { type OpenedStream, type OpenOptions, openStream, type StartRequest } from './open.ts'
export { type FrameReader, readFrames } from './reader.ts'
export { type RelayOptions, relayFrames, relaySource, type StreamEnd } from './relay.ts'

/** What a plugin relays by, unless a call says otherwise. The client's signal is the request's own. */
export interface SseRelayOptions extends FramesOptions, Omit<RelayOptions, 'signal'> {
  /**
   * Told of the first event, and of the upstream's headers, before anything is sent: the response that it gives goes out instead of the stream. `answerError` gives errors the status
   * that they stand for. With it the answer begins with the first event, or with the first heartbeat, rather than at once. Default: every stream goes out.
   */
  readonly firstEvent?: (first: SseEvent, upstream: Headers) => Response | undefined
}

/** Relays what an upstream answers. Throws Problem 502 when there is no answer. */
export type Relay = (ask: StartRequest, options?: SseRelayOptions) => Promise<Response>

/**
 * Puts `relay` into the context: `relay((signal) => fetch(url, { signal }))` answers with what the upstream answers, a stream of events as it comes. The
 * signal aborts when the client leaves, before the answer, in the middle, or in a silence. Throws RangeError for times that make no sense.
 */
export const sseRelay = (options: SseRelayOptions = {}) => {
  checkTimes(options)
  return new Elysia({ name: 'sluice/sse-relay', seed: seedOf(options) }).derive({ as: 'scoped' }, ({ request }) => {
    const relay: Relay = (ask, also) => relayAnswer(ask, { ...options, ...also, signal: request.signal })
    return { relay }
  })
}

const relayAnswer = async (
  ask: StartRequest,
  options: SseRelayOptions & { readonly signal: AbortSignal },
): Promise<Response> => {
  const { signal, maxEventBytes, firstEvent, heartbeatMs, clock } = options
  const { response, reader } = await openStream(ask, { signal, maxEventBytes })
  const { status } = response
  const headers = responseHeaders(response.headers, status)
  if (!reader) return new Response(response.body, { status, headers })
  if (!firstEvent) return responseFrom(relaySource(reader, options), { status, headers: streamHeaders(headers) })
  const first = await firstOf(reader, { patienceMs: heartbeatMs, clock })
  const instead = first.event && firstEvent(first.event, response.headers)
  if (!instead) return responseFrom(relaySource(first.reader, options), { status, headers: streamHeaders(headers) })
  await reader.cancel()
  return instead
}

/** An upstream that breaks before it has said anything has not answered. */
const firstOf = async (reader: FrameReader, options: FirstEventOptions): Promise<FirstEvent> => {
  try {
    return await readFirstEvent(reader, options)
  } catch (cause) {
    await reader.cancel(cause)
    throw upstreamProblem(cause)
  }
}

/** An answer's headers as those of a stream that nobody on the way is to hold back, or to pack. */
export const streamHeaders = (headers: Headers): Headers => {
  headers.set('content-type', 'text/event-stream; charset=utf-8')
  headers.set('cache-control', 'no-cache, no-transform')
  headers.set('x-accel-buffering', 'no')
  return headers
}
