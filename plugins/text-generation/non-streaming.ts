import type { Clock } from '../shared/clock.ts'
import { notAuthenticated } from '../shared/identify.ts'
import { answerLimits, asJsonObject, JsonError, type JsonObject, parseJson } from '../shared/json.ts'
import { responseOf } from '../shared/known-body.ts'
import { parseLossless } from '../shared/lossless-json.ts'
import { createFrames, type FrameReader } from '../sse-relay/index.ts'
import { UpstreamInvalidError } from '../upstream-proxy/index.ts'
import { type Assembly, StreamError } from './assembly.ts'
import { askUpstream, type Call, type GenerationContext } from './call.ts'
import { Deadline, timeoutOf } from './deadline.ts'
import { isDone } from './events/done.ts'
import type { Exchange } from './protocol.ts'
import { startStream } from './start-stream.ts'
import { type ResponseBody, readResponse, type TextResponse } from './upstream/client.ts'
import { refuseCredentials } from './upstream/credentials.ts'
import type { TextUpstream } from './upstream/model-routing.ts'
import { problemOf } from './upstream/problem.ts'

/**
 * Answers a call that does not stream. The upstream is asked for a stream all the same, so that there is something to show for it when the time is over:
 * the answer so far, marked by `x-upstream-partialresponse`.
 *
 * Throws Refusal, Unreachable and Invalid, see `createConnection`; also where the upstream breaks off in the middle. Problem 401 where the caller's credential
 * ceases to hold meanwhile.
 */
export const respondNonStreaming = async (call: Call, context: GenerationContext): Promise<Response> => {
  const { exchange, request, route } = call
  const { clock, timeoutMs, log } = context
  using deadline = new Deadline({
    clock,
    // What it begins goes on, whether anybody waits for the answer or not: so its caller has to be known as its owner.
    at: exchange.atOnce ? Number.POSITIVE_INFINITY : call.arrivedAt + timeoutOf(request.headers, timeoutMs),
    caller: request.signal,
    lingerMs: exchange.atOnce ? timeoutMs : 0,
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
        // What goes on without its caller is known as soon as it has begun; of any other answer nobody sees anything before its end.
        const streamCall = exchange.atOnce ? call : {}
        return { ...begunResponse, reader: await startStream(streamCall, response.body, { signal, clock }) }
      }
      const body = await readResponse(response, route.upstream, context.maxResponseBytes)
      return { ...begunResponse, bytes: body.bytes, parsed: parseResponse(body, exchange) }
    }
    const begun = await askUpstream(call, context, signal, begin, exchange.atOnce)
    const { response, headers } = begun
    if ('reader' in begun) {
      await assembleStream(begun.reader, assembly, { exchange, signal, clock })
    } else {
      const { bytes, parsed } = begun
      usage = asObject(parsed.fields.usage)
      if (call.issued) await call.issued.response(parsed.fields)
      if (exchange.native) return responseOf(bytes, { status: response.status, headers })
      pushText(exchange.eventsOf(parseLossless(parsed.text)), assembly)
    }
    usage = assembly.usage
    return jsonResponse(await withIssuedObjects(assembly.result(), call), route.upstream, headers)
  } catch (error) {
    usage ??= assembly.usage
    if (deadline.revoked) throw notAuthenticated()
    if (call.issued?.problem) throw call.issued.problem
    if (deadline.passed) {
      log.info({ action: exchange.action }, 'the time is over: what there is of the answer goes out')
      return jsonResponse(
        await withIssuedObjects(assembly.partial(), call),
        route.upstream,
        upstreamResponse?.headers,
        true,
      )
    }
    throw problemOf(error, route.upstream, upstreamResponse?.headers)
  } finally {
    // An upstream that has the request at work costs, whether it has answered yet or not.
    if (upstreamResponse || (sent && signal.aborted)) {
      const recorded = call.onEnd(usage)
      if (recorded) await recorded
    }
  }
}

/** An answer, once what it names is known as the caller's. What a bridge made up names nothing that an upstream keeps. */
const withIssuedObjects = async (json: string, { exchange, issued }: Call): Promise<string> => {
  if (exchange.native) await issued?.response(JSON.parse(json))
  return json
}

/** An answer that has begun: a stream, or all of it. */
type BegunResponse = TextResponse &
  ({ readonly reader: FrameReader } | { readonly bytes: Uint8Array<ArrayBuffer>; readonly parsed: ParsedResponse })

/** Whether an answer is not a stream, whatever was asked for. */
export const isJsonResponse = (response: Response): boolean =>
  /\bjson\b/i.test(response.headers.get('content-type') ?? '')

/** An answer that is no stream. */
export interface ParsedResponse {
  readonly text: string
  /** Its object, to look into. */
  readonly fields: JsonObject
}

/** What is in a plain answer. Throws Invalid for anything but an object, StreamError for an error under a status of success. */
export const parseResponse = (body: ResponseBody, { isAnswer }: Pick<Exchange, 'isAnswer'>): ParsedResponse => {
  const text = body.text ?? textOf(body.bytes)
  const fields = fieldsOf(text)
  if (isAnswer(fields)) return { text, fields }
  const error = fields.error && asObject(asJsonObject(parseLossless(text))?.error)
  if (error) throw new StreamError('an error under a status of success', error)
  throw new UpstreamInvalidError('an object that is no answer')
}

const fieldsOf = (text: string): JsonObject => {
  try {
    const fields = asJsonObject(parseJson(text, answerLimits))
    if (fields) return fields
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
  }
  throw new UpstreamInvalidError('an answer without a JSON object')
}

const textOf = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new UpstreamInvalidError('an answer that is not UTF-8')
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

interface AssembleOptions {
  readonly exchange: Exchange
  readonly signal: AbortSignal
  readonly clock: Clock
}

const assembleStream = async (
  reader: FrameReader,
  assembly: Assembly,
  { exchange, signal, clock }: AssembleOptions,
): Promise<void> => {
  try {
    const finished = await pushFrames(reader, assembly, exchange.terminal)
    signal.throwIfAborted()
    if (!assembly.complete) throw new UpstreamInvalidError('a stream that ended before its answer was complete')
    if (finished) awaitEnd(reader, clock)
  } catch (error) {
    await reader.cancel()
    throw error
  }
}

/** Pushes events up to the end, or to the one after which nothing matters: then true. */
const pushFrames = async (reader: FrameReader, assembly: Assembly, terminal: boolean): Promise<boolean> => {
  for (let frames = await reader.next(); frames; frames = await reader.next()) {
    for (const { event } of frames) {
      if (!event) continue
      assembly.push(event)
      if (isDone(event.data) || (terminal && assembly.complete)) return true
    }
  }
  return false
}

/** The body's own end often comes a moment after the last event. Whoever reads on until then can use the connection again; one that does not end is given up. */
const awaitEnd = (reader: FrameReader, clock: Clock): void => {
  const cancel = () => void reader.cancel()
  const cancelTimer = clock.at(clock.now() + maxEndMs, cancel)
  reader.next().then(
    (more) => {
      cancelTimer()
      if (more) cancel()
    },
    () => cancelTimer(),
  )
}

/** Milliseconds. */
const maxEndMs = 1_000

const pushText = (text: string, assembly: Assembly): void => {
  for (const { event } of createFrames().push(new TextEncoder().encode(text))) if (event) assembly.push(event)
}

/** An answer that the gateway put together. Throws Invalid when it holds a credential. */
const jsonResponse = (json: string, upstream: TextUpstream, headers = new Headers(), partial = false): Response => {
  refuseCredentials(upstream, json)
  headers.set('content-type', 'application/json')
  if (partial) headers.set('x-upstream-partialresponse', 'true')
  return responseOf(json, { headers })
}

const asObject = (value: unknown): object | undefined =>
  typeof value === 'object' && value !== null ? value : undefined
