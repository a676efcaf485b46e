import { type Awaitable, andThen, isPromise } from '../../shared/awaitable.ts'
import type { Clock } from '../../shared/clock.ts'
import { responseOf } from '../../shared/http/body/known-body.ts'
import { disconnectionOf } from '../../shared/http/disconnection.ts'
import { noStoreHeaders } from '../../shared/http/no-store.ts'
import { notAuthenticated } from '../../shared/identity/identify.ts'
import { JsonError, maxBytesAtOnce, nextTurn, parseJson, responseLimits } from '../../shared/json/json.ts'
import { parseLossless } from '../../shared/json/lossless.ts'
import { parseJsonInTurns } from '../../shared/json/parse-in-turns.ts'
import { asJsonObject, type JsonObject } from '../../shared/json/parsed.ts'
import { decodeValidUtf8 } from '../../shared/text.ts'
import { UpstreamInvalidError } from '../../shared/upstream/upstream-error.ts'
import { createFrameSplitter, type FrameReader } from '../../sse-relay/index.ts'
import { isDone } from '../events/text.ts'
import { type Assembly, StreamError } from '../protocol/assembly.ts'
import type { Exchange } from '../protocol/protocol.ts'
import { awaitEnd } from '../upstream/await-end.ts'
import { type CompleteResponse, readResponse, type TextResponse } from '../upstream/client.ts'
import { requireNoCredential } from '../upstream/credentials.ts'
import { problemOf } from '../upstream/problem.ts'
import { type Call, callWithAdditions, type GenerationContext, startStream } from './call.ts'
import { Deadline } from './deadline.ts'

/**
 * Handles a request without streaming.
 *
 * The gateway still requests a stream from the upstream. At the time limit it can then return a partial response, with
 * the header `x-upstream-partialresponse`.
 *
 * Throws the upstream errors of `createUpstreamClient`, also for a stream that breaks. Throws Problem 401 when the
 * caller's credential is revoked.
 */
export const respondNonStreaming = async (call: Call, context: GenerationContext): Promise<Response> => {
  const { exchange, request, route, clientTimeoutMs = Number.POSITIVE_INFINITY } = call
  const { clock, timeoutMs, log } = context
  // Without a partial response, an earlier error does not help the client.
  const limitMs = exchange.unassembled ? timeoutMs : Math.min(timeoutMs, clientTimeoutMs)
  using deadline = new Deadline({
    clock,
    // The upstream continues a background response without a client. Therefore the gateway has to learn its id and
    // record the owner, even if the caller has disconnected.
    at: exchange.respondsAtOnce ? Number.POSITIVE_INFINITY : call.arrivedAt + limitMs,
    isCallers: limitMs < timeoutMs,
    caller: disconnectionOf(request),
    lingerMs: exchange.respondsAtOnce ? timeoutMs : 0,
    whenRevoked: call.whenRevoked,
  })
  const { signal } = deadline
  const assembly = exchange.assemble()
  let upstreamResponse: TextResponse | undefined
  let sent = false
  let usage: object | undefined
  try {
    signal.throwIfAborted()
    sent = true
    const begin = async (begunResponse: TextResponse): Promise<BegunResponse> => {
      upstreamResponse = begunResponse
      const { response } = begunResponse
      if (!isJsonResponse(response)) {
        // The ids of a background response are recorded as soon as they arrive. Of any other stream the caller receives
        // nothing before its end, so its ids are recorded then.
        const streamCall = exchange.respondsAtOnce ? call : { limit: call.limit }
        return { ...begunResponse, reader: await startStream(streamCall, response.body, { signal, clock }) }
      }
      const body = await readResponse(response, route.upstream, context.maxResponseBytes)
      const parsing = parseResponse(body, exchange)
      const parsed = isPromise(parsing) ? await parsing : parsing
      return { response, headers: begunResponse.headers, bytes: body.bytes, parsed }
    }
    const begun = await callWithAdditions(call, context, signal, begin, exchange.respondsAtOnce || exchange.unassembled)
    const { response, headers } = begun
    if ('reader' in begun) {
      await assembleStream(begun.reader, assembly, { exchange, signal, clock, limit: call.limit })
    } else {
      const { bytes, parsed } = begun
      usage = asObject(parsed.fields.usage)
      if (bytes.length > maxBytesAtOnce) await nextTurn()
      if (exchange.native) {
        if (call.issued) await call.issued.recordResponse(parsed.fields)
        return responseOf(bytes, { status: response.status, headers })
      }
      pushText(exchange.toEventStream(await losslessOf(parsed)), assembly)
    }
    usage = assembly.usage
    return jsonResponse(await withIssuedObjects(assembly.result(), call), headers)
  } catch (error) {
    usage ??= assembly.usage
    if (deadline.revoked) throw notAuthenticated()
    if (call.issued?.problem) throw call.issued.problem
    if (deadline.passed || call.limit?.exhausted) {
      log.info({ action: exchange.action }, 'a limit of time or use is reached: sending the partial response')
      const partial = assembly.partial()
      // If the gateway has made the id of a response that the upstream keeps, the upstream does not know it.
      const isIssued = assembly.hasUpstreamId || !exchange.native
      return jsonResponse(
        await withIssuedObjects(partial, isIssued ? call : { route }),
        upstreamResponse?.headers,
        true,
      )
    }
    throw problemOf(error, route.upstream, log, upstreamResponse?.headers)
  } finally {
    // After the request was sent, it may cost tokens even if no response has arrived.
    if (upstreamResponse || (sent && signal.aborted)) {
      const recorded = call.onEnd(usage)
      if (recorded) await recorded
    }
  }
}

/**
 * Records the ids in a response, or stores the response, then returns it. Throws UpstreamInvalidError if it contains a
 * credential.
 */
const withIssuedObjects = async (json: string, { route, issued }: Pick<Call, 'route' | 'issued'>): Promise<string> => {
  const isLong = json.length > maxBytesAtOnce
  if (isLong) await nextTurn()
  requireNoCredential(route.upstream, json)
  if (issued) await issued.recordResponse(isLong ? await parseJsonInTurns(json) : parseLossless(json))
  return json
}

/** A response of the upstream: a stream, or a complete body. */
type BegunResponse = TextResponse &
  ({ readonly reader: FrameReader } | { readonly bytes: Uint8Array<ArrayBuffer>; readonly parsed: ParsedResponse })

/** Whether a response is JSON and no stream, whatever the gateway requested. */
export const isJsonResponse = (response: Response): boolean =>
  /\bjson\b/i.test(response.headers.get('content-type') ?? '')

/** A JSON response. */
export interface ParsedResponse {
  readonly text: string
  /** The parsed object, for reading. */
  readonly fields: JsonObject
}

/**
 * Parses a JSON response, without a promise if it is short. Throws or rejects with UpstreamInvalidError for anything
 * but an object of the protocol, with StreamError for an error object with status 200.
 */
export const parseResponse = (
  body: CompleteResponse,
  exchange: Pick<Exchange, 'isResponse'>,
): Awaitable<ParsedResponse> =>
  body.bytes.length > maxBytesAtOnce
    ? nextTurn().then(() => parse(body, parseLong, exchange))
    : parse(body, parseShort, exchange)

const parse = (
  { bytes, text = textOf(bytes) }: CompleteResponse,
  parseText: (text: string) => Awaitable<unknown>,
  { isResponse }: Pick<Exchange, 'isResponse'>,
): Awaitable<ParsedResponse> =>
  andThen(parseText(text), (value) => {
    const fields = asJsonObject(value)
    if (!fields) throw notJson()
    if (isResponse(fields)) return { text, fields }
    const error = fields.error && asObject(asJsonObject(parseLossless(text))?.error)
    if (error) throw new StreamError('an error object with a status of success', error)
    throw new UpstreamInvalidError('the response is not an object of the protocol')
  })

/** The response, parsed with `parseLossless`. */
export const losslessOf = ({ text }: ParsedResponse): Awaitable<unknown> =>
  text.length > maxBytesAtOnce ? parseJsonInTurns(text) : parseLossless(text)

const parseLong = (text: string): Promise<unknown> => parseJsonInTurns(text, responseLimits).catch(throwInvalid)

const parseShort = (text: string): unknown => {
  try {
    return parseJson(text, responseLimits)
  } catch (error) {
    return throwInvalid(error)
  }
}

const throwInvalid = (error: unknown): never => {
  throw error instanceof JsonError ? notJson() : error
}

const notJson = () => new UpstreamInvalidError('the response is not a JSON object')

const textOf = (bytes: Uint8Array): string => {
  const text = decodeValidUtf8(bytes)
  if (text === undefined) throw new UpstreamInvalidError('the response is not valid UTF-8')
  return text
}

interface AssembleOptions {
  readonly exchange: Exchange
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly limit: Call['limit']
}

const assembleStream = async (
  reader: FrameReader,
  assembly: Assembly,
  { exchange, signal, clock, limit }: AssembleOptions,
): Promise<void> => {
  try {
    const finished = await pushFrames(reader, assembly, exchange.hasTerminalEvent)
    signal.throwIfAborted()
    if (!assembly.complete) throw new UpstreamInvalidError('the stream ended before the response was complete')
    if (!finished) return
    limit?.onComplete()
    awaitEnd(reader, clock)
  } catch (error) {
    await reader.cancel()
    throw error
  }
}

/**
 * Adds events up to the end of the stream, or up to `[DONE]` or a terminal event; in the latter cases it returns true.
 */
const pushFrames = async (reader: FrameReader, assembly: Assembly, terminal: boolean): Promise<boolean> => {
  for (let frames = await reader.next(); frames; frames = await reader.next()) {
    for (const { event } of frames) {
      if (!event) continue
      assembly.push(event)
      // The next event, or the result, is made in another turn of the event loop.
      if (event.data.length > maxBytesAtOnce) await nextTurn()
      if (isDone(event.data) || (terminal && assembly.complete)) return true
    }
  }
  return false
}

const pushText = (text: string, assembly: Assembly): void => {
  for (const { event } of createFrameSplitter().push(new TextEncoder().encode(text))) if (event) assembly.push(event)
}

/** A JSON response that the gateway has built. */
const jsonResponse = (json: string, headers = new Headers(noStoreHeaders), partial = false): Response => {
  headers.set('content-type', 'application/json')
  if (partial) headers.set('x-upstream-partialresponse', 'true')
  return responseOf(json, { headers })
}

const asObject = (value: unknown): object | undefined =>
  typeof value === 'object' && value !== null ? value : undefined
