import { responseFrom } from '../shared/byte-source.ts'
import type { Clock } from '../shared/clock.ts'
import { notAuthenticated } from '../shared/identify.ts'
import { type InFlight, inFlightOf } from '../shared/in-flight.ts'
import { parseLossless } from '../shared/lossless-json.ts'
import { type Frame, type RelayOptions, relaySource, type StreamEnd, streamHeaders } from '../sse-relay/index.ts'
import { askUpstream, type Call, type GenerationContext } from './call.ts'
import { Deadline } from './deadline.ts'
import { isDone } from './events/done.ts'
import { EventReader, jsonOf } from './events/event.ts'
import { eventText } from './events/text.ts'
import { isJsonResponse, parseResponse } from './non-streaming.ts'
import { textProblemBody } from './problem.ts'
import type { Exchange, Relaying } from './protocol.ts'
import { startStream } from './start-stream.ts'
import { type ResponseBody, readResponse, type TextResponse } from './upstream/client.ts'
import { watchCredentials } from './upstream/credentials.ts'
import { problemOf } from './upstream/problem.ts'

/**
 * Answers a call that streams: events as they come. The response begins with the first event, or with the first heartbeat; an error that comes
 * before becomes the status that it stands for.
 *
 * Throws Refusal, Unreachable and Invalid, see `createConnection`; where there are too many streams, Problem 429 or 503; and 401 where the caller's credential
 * ceases to hold before the response has begun. After that, such a stream ends with an error.
 */
export const respondStreaming = async (call: Call, context: GenerationContext): Promise<Response> => {
  const { exchange, request, route } = call
  const { clock, heartbeatMs, timeoutMs } = context
  // What goes on without its caller is waited for: so its caller has to be known as its owner.
  using linger = exchange.atOnce
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
        ? eventStream(await readResponse(response, route.upstream, context.maxResponseBytes), exchange)
        : response.body
      return {
        headers,
        reader: await startStream(call, body, { signal, maxSilenceMs: heartbeatMs, clock, events: new EventReader() }),
      }
    }
    const { headers, reader } = await askUpstream(call, context, signal, begin)
    return responseFrom(relaySource(reader, streamed), { headers: streamHeaders(headers) })
  } catch (error) {
    streamed.release()
    if (sent && signal.aborted) await streamed.end()
    streamed.upstreamCall.abort(error)
    if (streamed.revoked) throw notAuthenticated()
    throw problemOf(error, route.upstream)
  } finally {
    caller.removeEventListener('abort', disconnect)
  }
}

/** A stream on its way to its caller, for as long as it lasts: it holds nothing of the request that it does not need to the end. */
class StreamedResponse implements RelayOptions {
  /** Ends the call, for whatever reason. */
  readonly upstreamCall = new AbortController()
  readonly signal: AbortSignal
  readonly heartbeatMs: number | undefined
  readonly clock: Clock
  /** Whether the caller's credential has ceased to hold. */
  revoked = false
  readonly #relay: Relaying
  readonly #checkCredentials: (frame: Frame) => void
  readonly #inFlight: InFlight | undefined
  readonly #unwatchCredential: (() => void) | undefined
  readonly #recordUsage: Call['onEnd']
  #ended = false

  constructor({ exchange, request, route, whenRevoked, onEnd }: Call, { heartbeatMs, clock }: GenerationContext) {
    this.signal = request.signal
    this.heartbeatMs = heartbeatMs
    this.clock = clock
    this.#relay = exchange.relay()
    this.#checkCredentials = watchCredentials(route.upstream)
    this.#inFlight = inFlightOf(request)
    this.#recordUsage = onEnd
    this.#unwatchCredential = whenRevoked?.(() => {
      this.revoked = true
      this.upstreamCall.abort(new Error('the credential has ceased to hold'))
    })
  }

  /** Throws Problem 429 or 503 where there are too many streams. */
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
      return encoder.encode(this.revoked ? revokedEvent : this.#relay.onEnd(kind === 'broken'))
    } finally {
      await this.end()
    }
  }

  onDisconnect(): void {
    this.upstreamCall.abort(new Error('the caller left'))
    this.end().catch(() => {})
  }

  /** It is counted, and its credential watched, no longer. */
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

/** A plain answer as the stream that it would have been. */
const eventStream = (body: ResponseBody, exchange: Exchange): Response['body'] =>
  new Response(exchange.eventsOf(parseLossless(parseResponse(body, exchange).text))).body

const encoder = new TextEncoder()

/** The end of a stream whose caller's credential has ceased to hold, for clients of either protocol: they raise what has `error`, or the type of one. */
const revokedEvent = `event: error\n${eventText(
  JSON.stringify({
    type: 'error',
    ...textProblemBody(notAuthenticated()),
    ...{ code: 'invalid_api_key', message: notAuthenticated().message, param: null, sequence_number: 0 },
  }),
)}`

/** Whether a stream was closed within an event of which nobody can make anything. */
const isIncomplete = ({ closing, event }: Frame): boolean =>
  closing !== undefined && closing !== '' && event !== undefined && !isDone(event.data) && jsonOf(event) === undefined
