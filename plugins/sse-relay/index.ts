import { type AnyElysia, Elysia } from 'elysia'
import { responseFrom } from '../shared/http/body/byte-source.ts'
import type { ErrorsOption } from '../shared/http/error-handler.ts'
import { responseHeaders } from '../shared/http/headers.ts'
import { checkAbove0 } from '../shared/plugin/options.ts'
import type { ContextPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { type Log, noLog, Problem, problemBody, renderError } from '../shared/problem.ts'
import type { SseEvent } from './event.ts'
import { type FirstEvent, type FirstEventOptions, readFirstEvent } from './first-event.ts'
import type { FrameSplitterOptions } from './frames.ts'
import { openStream, type StartRequest, upstreamProblem } from './open.ts'
import type { FrameReader } from './reader.ts'
import { checkTimes, type RelayOptions, relaySource } from './relay.ts'

export type { ErrorsOption } from '../shared/http/error-handler.ts'
export { responseHeaders } from '../shared/http/headers.ts'
export { errorResponse, errorStatus, readErrorEvent } from './error-event.ts'
export { parseEvent, type SseEvent } from './event.ts'
export { type FirstEvent, type FirstEventOptions, readFirstEvent } from './first-event.ts'
export {
  createFrameSplitter,
  EventTooLargeError,
  type Frame,
  type FrameSplitter,
  type FrameSplitterOptions,
} from './frames.ts'
export { type OpenedStream, type OpenOptions, openStream, type StartRequest } from './open.ts'
export { type FrameReader, readFrames } from './reader.ts'
export { type RelayOptions, relayFrames, relaySource, type StreamEnd } from './relay.ts'

/** Options of `sseRelay`, and of one call of `relay`. */
export interface SseRelayOptions extends FrameSplitterOptions, Omit<RelayOptions, 'signal'> {
  /**
   * Receives the first event and the upstream's headers before anything is sent. If it returns a response, this
   * response replaces the stream.
   *
   * With it the response starts with the first event or the first heartbeat, not before. `errorResponse` is such a
   * callback: it turns an error event into an HTTP error. Default: all streams are relayed.
   */
  readonly firstEvent?: (first: SseEvent, upstreamHeaders: Headers) => Response | undefined
  /**
   * The JSON body of the 502 response when the upstream gives no response; `throw`: `relay` throws the Problem.
   * Default: `problemBody()`.
   */
  readonly errors?: ErrorsOption
  /** Receives the cause of a 502 response. */
  readonly log?: Log
}

/** Relays the response of an upstream. Resolves with a 502 response if there is none. */
export type Relay = (startRequest: StartRequest, options?: SseRelayOptions) => Promise<Response>

/** What `sseRelay` adds to the context. */
export type RelayContext = { relay: Relay }

/**
 * An Elysia plugin that adds `relay` to the context: `relay((signal) => fetch(url, { signal }))` returns the upstream's
 * response.
 *
 * A stream of events is relayed event by event. The signal aborts when the client disconnects: before the response,
 * during the stream, or while the upstream is silent. Throws TypeError if `heartbeatMs`, `maxSilenceMs` or
 * `maxEventBytes` is not above 0.
 *
 * @example
 * const stream = () => fetch('https://upstream.example/stream')
 * new Elysia().use(sseRelay({ heartbeatMs: 15_000 })).get('/stream', ({ relay }) => relay(stream))
 */
export const sseRelay = (options: SseRelayOptions = {}): ContextPlugin<RelayContext> => {
  checkTimes(options)
  checkAbove0({ maxEventBytes: options.maxEventBytes })
  const plugin: AnyElysia = new Elysia({ name: 'sluice/sse-relay', seed: seedOf(options) })
  return plugin.derive({ as: 'scoped' }, ({ request }): RelayContext => {
    const relay: Relay = async (startRequest, overrides) => {
      const { errors = problemBody(), log = noLog, ...relayOptions } = { ...options, ...overrides }
      try {
        return await relayResponse(startRequest, { ...relayOptions, signal: request.signal })
      } catch (error) {
        if (errors === 'throw' || !(error instanceof Problem)) throw error
        return renderError(error, { body: errors, log, request })
      }
    }
    return { relay }
  })
}

const relayResponse = async (
  startRequest: StartRequest,
  options: SseRelayOptions & { readonly signal: AbortSignal },
): Promise<Response> => {
  const { signal, maxEventBytes, parse, recognise, prepare, firstEvent, heartbeatMs, clock } = options
  const { response, reader } = await openStream(startRequest, { signal, maxEventBytes, parse, recognise, prepare })
  const { status } = response
  const headers = responseHeaders(response.headers, status)
  if (!reader) return new Response(response.body, { status, headers })
  if (!firstEvent) return responseFrom(relaySource(reader, options), { status, headers: streamHeaders(headers) })
  const first = await readFirst(reader, { maxWaitMs: heartbeatMs, clock })
  const replacement = first.event && firstEvent(first.event, response.headers)
  if (!replacement) return responseFrom(relaySource(first.reader, options), { status, headers: streamHeaders(headers) })
  await reader.cancel()
  return replacement
}

/** Reads the first event. Throws Problem 502 if the stream breaks before it. */
const readFirst = async (reader: FrameReader, options: FirstEventOptions): Promise<FirstEvent> => {
  try {
    return await readFirstEvent(reader, options)
  } catch (cause) {
    await reader.cancel(cause)
    throw upstreamProblem(cause)
  }
}

/**
 * Sets the headers of an event stream, which proxies must neither buffer nor compress. Changes and returns `headers`.
 */
export const streamHeaders = (headers: Headers): Headers => {
  headers.set('content-type', 'text/event-stream; charset=utf-8')
  headers.set('cache-control', 'no-store, no-transform')
  headers.set('x-accel-buffering', 'no')
  return headers
}
