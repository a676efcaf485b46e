import { Buffer } from 'node:buffer'
import { isPromise } from '../../shared/awaitable.ts'
import type { Clock } from '../../shared/clock.ts'
import type { JsonBody } from '../../shared/http/body/body.ts'
import type { WhenRevoked } from '../../shared/identity/revocation.ts'
import { composeInTurns, isLarge, type Json, toJson } from '../../shared/json/json.ts'
import { UpstreamInvalidError, UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'
import {
  type FrameReader,
  type FrameSplitterOptions,
  readErrorEvent,
  readFirstEvent,
  readFrames,
} from '../../sse-relay/index.ts'
import { jsonOf, textEvents } from '../events/event.ts'
import type { CallLimit } from '../limits/call-limit.ts'
import type { ModelRoute } from '../models/routing.ts'
import type { IssuedObjects } from '../objects/issued.ts'
import type { TextSettings } from '../options.ts'
import { StreamError } from '../protocol/assembly.ts'
import type { Exchange } from '../protocol/protocol.ts'
import { type Addition, rejectedAddition } from '../upstream/additions.ts'
import type { TextResponse, UpstreamClient } from '../upstream/client.ts'
import { maxTokensFieldIn, type RejectedAdditions } from '../upstream/learnt-capabilities.ts'
import { problemOf } from '../upstream/problem.ts'

/** One request of a caller to one upstream. */
export interface Call {
  /** Id of the user that sent the request. */
  readonly user: string
  readonly exchange: Exchange
  readonly route: ModelRoute
  /** The request body as received. Undefined: a GET request. */
  readonly body?: JsonBody
  /**
   * Records the ids in the response as the caller's, before the caller receives them. Undefined: the response has none
   * to record.
   */
  readonly issued?: IssuedObjects
  /** What the call holds of the limits of its user. Undefined: no limit applies. */
  readonly limit?: CallLimit | undefined
  /** The caller's request: its headers, and its signal, which aborts when the caller disconnects. */
  readonly request: Request
  /** Milliseconds since 1970. The time limit starts here. */
  readonly arrivedAt: number
  /** See `clientTimeoutOf`. Default: none, as that of a stream. */
  readonly clientTimeoutMs?: number
  /**
   * Registers a listener for the revocation of the caller's credential. Undefined: the host app cannot detect a
   * revocation.
   */
  readonly whenRevoked: WhenRevoked | undefined
  /** Called when the upstream has begun a successful response. */
  readonly onAccepted?: () => void
  /** Called once, at the end of every response of the upstream: complete, failed or aborted. */
  readonly onEnd: (usage: object | undefined) => void | Promise<void>
}

/** What all requests share. */
export interface GenerationContext
  extends Pick<TextSettings, 'clock' | 'timeoutMs' | 'heartbeatMs' | 'maxResponseBytes' | 'traceCall' | 'log'> {
  readonly client: UpstreamClient
  /** Cache of fields that the gateway adds and that an upstream has rejected. */
  readonly rejectedAdditions: RejectedAdditions
}

/**
 * Sends the request to the upstream, as a stream where the upstream supports it, and starts to read the response with
 * `begin`.
 *
 * A body that the gateway does not change goes upstream byte for byte.
 *
 * If the upstream rejects a field that the gateway added, the gateway retries without that field. A retry is safe:
 * after a rejection with status 400 or 422 the upstream has generated nothing. The caller never sees an error about a
 * field that it did not send. After a successful retry, similar requests omit the field for a while.
 *
 * Rejects with the upstream errors of `createUpstreamClient`, and with the errors of `begin`.
 *
 * @param withoutStream whether the upstream must not stream
 */
export const callWithAdditions = async <Result>(
  call: Call,
  { client, rejectedAdditions, log }: GenerationContext,
  signal: AbortSignal,
  begin: (response: TextResponse) => Promise<Result>,
  withoutStream = false,
): Promise<Result> => {
  const { exchange, route, request, body, onAccepted } = call
  const { upstream } = route
  const { action, path } = exchange
  const without = new Set(rejectedAdditions.get(call))
  if (withoutStream || route.streams === false) without.add('stream')
  if (route.reportsUsage === false) without.add('stream_options')
  const firstBytes = bytesOf(bodyOf(exchange, route, without), body)
  let bytes = isPromise(firstBytes) ? await firstBytes : firstBytes
  let toRemember: ReadonlySet<Addition> | undefined
  for (;;) {
    let headers: Headers | undefined
    try {
      const response = await client({
        upstream,
        action,
        path,
        body: bytes,
        stream: !without.has('stream'),
        headers: request.headers,
        signal,
      })
      headers = response.headers
      onAccepted?.()
      const result = await begin(response)
      if (toRemember) rejectedAdditions.remember(call, toRemember)
      return result
    } catch (error) {
      const problem = problemOf(error, upstream, log, headers)
      // The attempt loop repeats the call with the other field, so that it keeps its maximum.
      if (maxTokensFieldIn(problem, route)) throw problem
      const rejection = problem instanceof UpstreamRejectedError ? rejectedAddition(problem) : undefined
      if (!rejection || without.has(rejection.addition)) throw problem
      without.add(rejection.addition)
      const nextBytes = await bytesOf(bodyOf(exchange, route, without), body)
      // The caller itself sent the rejected field, so the caller receives the error.
      if (!nextBytes || !bytes || Buffer.compare(nextBytes, bytes) === 0) throw problem
      bytes = nextBytes
      if (rejection.permanent)
        toRemember = new Set([...(toRemember ?? rejectedAdditions.get(call)), rejection.addition])
      log.info(
        { action, addition: rejection.addition },
        'upstream rejected a field that the gateway added: retrying without it',
      )
    }
  }
}

/** The request with the upstream's name of the model. */
const bodyOf = (exchange: Exchange, { id }: ModelRoute, without: ReadonlySet<Addition>): Json | undefined => {
  const json = exchange.body(without)
  return id === undefined ? json : json?.with('model', toJson(id))
}

/** The bytes to send: those of the caller if nothing has changed. */
const bytesOf = (json: Json | undefined, body: JsonBody | undefined): Promise<Uint8Array> | Uint8Array | undefined => {
  if (!json) return undefined
  if (json === body?.json) return body.bytes
  return body && isLarge(body.json) ? composeInTurns(json) : json.bytes
}

/** The frames of a response. Each becomes available when its ids are recorded as the caller's. */
const framesOf = (
  { issued, limit }: Pick<Call, 'issued' | 'limit'>,
  body: ReadableStream<Uint8Array>,
  options: FrameSplitterOptions,
): FrameReader => {
  const read = readFrames(body, options)
  const frames = limit?.meter(read) ?? read
  return issued?.wrapReader(frames) ?? frames
}

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
  call: Pick<Call, 'issued' | 'limit'>,
  body: ReadableStream<Uint8Array> | null,
  { signal, maxSilenceMs, clock, events = textEvents }: StartStreamOptions,
): Promise<FrameReader> => {
  if (!body) throw new UpstreamInvalidError('the response has no body')
  const reader = framesOf(call, body, events)
  cancelOnAbort(reader, signal)
  try {
    const first = await readFirstEvent(reader, { maxWaitMs: maxSilenceMs, clock })
    signal.throwIfAborted()
    if (first.ended) throw call.limit?.exhausted ?? new UpstreamInvalidError('the stream has no event')
    const json = first.event && jsonOf(first.event)
    if (first.isIncomplete && json === undefined)
      throw new UpstreamInvalidError('the stream ended within its first event')
    const streamError = first.event && readErrorEvent(first.event, json)
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
