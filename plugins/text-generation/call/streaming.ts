import type { Clock } from '../../shared/clock.ts'
import { responseFrom } from '../../shared/http/body/byte-source.ts'
import { type InFlight, inFlightOf } from '../../shared/http/in-flight.ts'
import { notAuthenticated } from '../../shared/identity/identify.ts'
import { maxBytesAtOnce, nextTurn } from '../../shared/json/json.ts'
import type { Problem } from '../../shared/problem.ts'
import {
  type Frame,
  type FrameReader,
  type RelayOptions,
  relaySource,
  type StreamEnd,
  streamHeaders,
} from '../../sse-relay/index.ts'
import { EventReader, jsonOf } from '../events/event.ts'
import { eventText, isDone } from '../events/text.ts'
import { textProblemBody } from '../protocol/problem.ts'
import type { Exchange, StreamRelay } from '../protocol/protocol.ts'
import { awaitEnd } from '../upstream/await-end.ts'
import { type CompleteResponse, readResponse, type TextResponse } from '../upstream/client.ts'
import { createStreamCredentialCheck } from '../upstream/credentials.ts'
import { problemOf } from '../upstream/problem.ts'
import { type Call, callWithAdditions, type GenerationContext, startStream } from './call.ts'
import { Deadline } from './deadline.ts'
import { isJsonResponse, losslessOf, parseResponse } from './non-streaming.ts'

/**
 * Handles a request with streaming: relays the events as they arrive.
 *
 * The response begins with the first event, or with the first heartbeat. An error before that becomes an HTTP error.
 *
 * Throws the upstream errors of `createUpstreamClient`; Problem 429 or 503 when there are too many streams; Problem 401
 * when the caller's credential is revoked before the response has begun. If it is revoked later, the stream ends with
 * an error event.
 */
export const respondStreaming = async (call: Call, context: GenerationContext): Promise<Response> => {
  const { exchange, request, route } = call
  const { clock, heartbeatMs, timeoutMs } = context
  // The upstream continues a background response without a client. Therefore the gateway waits for its id and records
  // the owner, even if the caller has disconnected.
  using linger = exchange.respondsAtOnce
    ? new Deadline({ clock, at: Number.POSITIVE_INFINITY, caller: request.signal, lingerMs: timeoutMs })
    : undefined
  const caller = linger?.signal ?? request.signal
  const streamed = new StreamedResponse(call, context)
  const { signal } = streamed.upstreamCall
  const disconnect = () => streamed.upstreamCall.abort(caller.reason)
  let sent = false
  try {
    if (caller.aborted) disconnect()
    else caller.addEventListener('abort', disconnect)
    streamed.count()
    signal.throwIfAborted()
    sent = true
    const begin = async ({ response, headers }: TextResponse) => {
      const body = isJsonResponse(response)
        ? await eventStream(await readResponse(response, route.upstream, context.maxResponseBytes), exchange)
        : response.body
      return {
        headers,
        reader: await startStream(call, body, { signal, maxSilenceMs: heartbeatMs, clock, events: new EventReader() }),
      }
    }
    const { headers, reader } = await callWithAdditions(call, context, signal, begin)
    return responseFrom(relaySource(streamed.endOf(reader), streamed), { headers: streamHeaders(headers) })
  } catch (error) {
    streamed.release()
    if (sent && signal.aborted) await streamed.end()
    streamed.upstreamCall.abort(error)
    if (streamed.revoked) throw notAuthenticated()
    throw problemOf(error, route.upstream, context.log)
  } finally {
    caller.removeEventListener('abort', disconnect)
  }
}

/**
 * The state of one relayed stream. It lives as long as the stream, so it keeps nothing of the request that is not
 * needed to the end.
 */
class StreamedResponse implements RelayOptions {
  /** Aborts the upstream's request. */
  readonly upstreamCall = new AbortController()
  readonly signal: AbortSignal
  readonly heartbeatMs: number | undefined
  readonly heartbeat: Uint8Array | undefined
  readonly clock: Clock
  /** Whether the caller's credential is revoked. */
  revoked = false
  readonly #relay: StreamRelay
  readonly #checkCredentials: (frame: Frame) => void
  readonly #inFlight: InFlight | undefined
  readonly #unwatchCredential: (() => void) | undefined
  readonly #recordUsage: Call['onEnd']
  readonly #errorEvent: Exchange['errorEvent']
  readonly #limit: Call['limit']
  #ended = false

  constructor(
    { exchange, issued, limit, request, route, whenRevoked, onEnd }: Call,
    { heartbeatMs, clock }: GenerationContext,
  ) {
    this.signal = request.signal
    this.heartbeatMs = heartbeatMs
    this.heartbeat = exchange.heartbeat
    this.clock = clock
    this.#relay = exchange.relay(issued)
    this.#checkCredentials = createStreamCredentialCheck(route.upstream)
    this.#inFlight = inFlightOf(request)
    this.#recordUsage = onEnd
    this.#errorEvent = exchange.errorEvent
    this.#limit = limit
    this.#unwatchCredential = whenRevoked?.(() => {
      this.revoked = true
      this.upstreamCall.abort(new Error('credential revoked'))
    })
  }

  /**
   * A reader that ends when the caller has received the last event. Some upstreams keep the connection open, and some
   * client libraries wait for the end of the body.
   */
  endOf(reader: FrameReader): FrameReader {
    const ended = Promise.resolve(undefined)
    let isEnding = false
    return {
      next: () => {
        if (!this.#relay.isOver) return reader.next()
        if (isEnding) return ended
        isEnding = true
        this.#limit?.onComplete()
        awaitEnd(reader, this.clock)
        return ended
      },
      cancel: (reason) => reader.cancel(reason),
    }
  }

  /** Counts this stream. Throws Problem 429 or 503 when there are too many. */
  count(): void {
    this.#inFlight?.streaming()
  }

  onFrame(frame: Frame): Uint8Array | null | undefined {
    if (isIncomplete(frame)) return null
    this.#checkCredentials(frame)
    return this.#relay.onFrame(frame)
  }

  async onEnd({ kind }: StreamEnd): Promise<Uint8Array> {
    try {
      const problem = this.revoked ? notAuthenticated() : this.#limit?.exhausted
      return encoder.encode(problem ? this.#eventOf(problem) : await this.#relay.onEnd(kind === 'broken'))
    } finally {
      await this.end()
    }
  }

  onDisconnect(): void {
    this.upstreamCall.abort(new Error('caller disconnected'))
    this.end().catch(() => {})
  }

  #eventOf(problem: Problem): string {
    return this.#errorEvent?.(problem) ?? lastEventOf(problem)
  }

  /** Ends the counting of this stream and the watch of its credential. */
  release(): void {
    this.#inFlight?.streamed()
    this.#unwatchCredential?.()
  }

  async end(): Promise<void> {
    if (this.#ended) return
    this.#ended = true
    this.release()
    await this.#recordUsage(this.#relay.usage)
  }
}

/** A JSON response as the equivalent event stream. A long one is parsed in turns of the event loop of its own. */
const eventStream = async (body: CompleteResponse, exchange: Exchange): Promise<Response['body']> => {
  const value = await losslessOf(await parseResponse(body, exchange))
  if (body.bytes.length > maxBytesAtOnce) await nextTurn()
  return new Response(exchange.toEventStream(value)).body
}

const encoder = new TextEncoder()

/**
 * Last event of a stream that the gateway ends. Clients of both protocols raise it: one reads `error`, the other the
 * event type `error`.
 */
const lastEventOf = (problem: Problem): string => {
  const { error } = textProblemBody(problem) as { readonly error: { readonly code: string | null } }
  const { code } = error
  return `event: error\n${eventText(
    JSON.stringify({ type: 'error', error, code, message: problem.message, param: null, sequence_number: 0 }),
  )}`
}

/** Whether the stream ended inside an event whose data is not valid JSON. */
const isIncomplete = ({ missingEnd, event }: Frame): boolean =>
  missingEnd !== undefined &&
  missingEnd !== '' &&
  event !== undefined &&
  !isDone(event.data) &&
  jsonOf(event) === undefined
