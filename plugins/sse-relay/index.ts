import { Elysia } from 'elysia'
import { responseHeaders } from '../shared/headers.ts'
import { identity } from '../shared/identity.ts'
import type { FramesOptions } from './events.ts'
import { type Ask, openStream } from './open.ts'
import { checkTimes, type RelayOptions, relayFrames } from './relay.ts'

export { responseHeaders } from '../shared/headers.ts'
export type { SseEvent } from './event.ts'
export { createFrames, EventTooLarge, type Frame, type Frames, type FramesOptions } from './events.ts'
export { type Ask, type Opened, type OpenOptions, openStream } from './open.ts'
export { type FrameReader, readFrames } from './reader.ts'
export { type End, type RelayOptions, relayFrames } from './relay.ts'

/** What a plugin relays by, unless a call says otherwise. The client's signal is the request's own. */
export interface SseRelayOptions extends FramesOptions, Omit<RelayOptions, 'signal'> {}

/** Relays what an upstream answers. Throws Problem 502 when there is no answer. */
export type Relay = (ask: Ask, options?: SseRelayOptions) => Promise<Response>

/**
 * Puts `relay` into the context: `relay((signal) => fetch(url, { signal }))` answers with what the upstream answers, a stream of events as it comes. The
 * signal aborts when the client leaves, before the answer, in the middle, or in a silence. Throws RangeError for times that make no sense.
 */
export const sseRelay = (options: SseRelayOptions = {}) => {
  checkTimes(options)
  return new Elysia({ name: 'sluice/sse-relay', seed: identity(options) }).derive({ as: 'scoped' }, ({ request }) => {
    const relay: Relay = (ask, also) => relayAnswer(ask, { ...options, ...also, signal: request.signal })
    return { relay }
  })
}

const relayAnswer = async (ask: Ask, options: FramesOptions & RelayOptions): Promise<Response> => {
  const { signal, maxEventBytes } = options
  const { response, reader } = await openStream(ask, { signal, maxEventBytes })
  const { status } = response
  const headers = responseHeaders(response.headers)
  if (!reader) return new Response(response.body, { status, headers })
  return new Response(relayFrames(reader, options), { status, headers: streamHeaders(headers) })
}

/** An answer's headers as those of a stream that nobody on the way is to hold back, or to pack. */
export const streamHeaders = (headers: Headers): Headers => {
  headers.set('content-type', 'text/event-stream; charset=utf-8')
  headers.set('cache-control', 'no-cache, no-transform')
  headers.set('x-accel-buffering', 'no')
  return headers
}
