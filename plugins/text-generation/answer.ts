import { type Json, JsonError, readJson } from '../shared/json.ts'
import { createFrames, type FrameReader, readFrames } from '../sse-relay/index.ts'
import { Invalid } from '../upstream-proxy/index.ts'
import { type Assembly, StreamError } from './assembly.ts'
import { ask, type Call, type Machinery } from './call.ts'
import { type Answered, asProblem, readAnswer, refuseSecrets } from './connection.ts'
import { createDeadline, timeFor } from './deadline.ts'
import type { Exchange } from './protocol.ts'
import { refusalOf } from './refusal.ts'

/**
 * Answers a call that does not stream. The upstream is asked for a stream all the same, so that there is something to show for it when the time is over
 * (reading 40): the answer so far, marked by `x-upstream-partialresponse`.
 *
 * Throws Refusal, Unreachable and Invalid, see `createConnection`; also where the upstream breaks off in the middle.
 */
export const answerWhole = async (call: Call, machinery: Machinery): Promise<Response> => {
  const { exchange, request, served } = call
  const { clock, timeoutMs, log } = machinery
  using deadline = createDeadline({
    clock,
    at: call.arrivedAt + timeFor(request.headers, timeoutMs),
    caller: request.signal,
  })
  const { signal } = deadline
  const assembly = exchange.assemble()
  let answered: Answered | undefined
  let sent = false
  let usage: object | undefined
  try {
    signal.throwIfAborted()
    sent = true
    answered = await ask(call, machinery, signal, !exchange.atOnce)
    const { response, headers } = answered
    if (!isPlain(response)) {
      await assembleStream(response, assembly, exchange.terminal, signal)
    } else {
      const bytes = await readAnswer(response, machinery.maxAnswerBytes)
      const json = answerIn(bytes, exchange)
      usage = objectOr(json.get('usage')?.value())
      if (exchange.native) return new Response(bytes, { status: response.status, headers })
      pushText(exchange.eventsOf(json.value()), assembly)
    }
    usage = assembly.usage
    return answerOf(assembly.result(), headers)
  } catch (error) {
    usage ??= assembly.usage
    if (deadline.passed) {
      log.info({ action: exchange.action }, 'the time is over: what there is of the answer goes out')
      return answerOf(assembly.partial(), answered?.headers, true)
    }
    if (!(error instanceof StreamError)) throw asProblem(error)
    if (error.said === undefined) throw new Invalid(error.message)
    refuseSecrets(served.upstream, JSON.stringify(error.said))
    throw refusalOf(error.said, answered?.headers)
  } finally {
    // An upstream that has the request at work costs, whether it has answered yet or not.
    if (answered || (sent && signal.aborted)) await call.ended(usage)
  }
}

/** Whether an answer is not a stream, whatever was asked for. */
export const isPlain = (response: Response): boolean => /\bjson\b/i.test(response.headers.get('content-type') ?? '')

/** The object of a plain answer. Throws Invalid for anything else, StreamError for an error under a status of success. */
export const answerIn = (bytes: Uint8Array, { isAnswer }: Pick<Exchange, 'isAnswer'>): Json => {
  let json: Json
  try {
    json = readJson(bytes)
  } catch (error) {
    if (error instanceof JsonError) throw new Invalid('an answer without a JSON object')
    throw error
  }
  if (!json.isObject) throw new Invalid('an answer without a JSON object')
  if (isAnswer(json)) return json
  const error = objectOr(json.get('error')?.value())
  if (error) throw new StreamError('an error under a status of success', error)
  throw new Invalid('an object that is no answer')
}

const assembleStream = async (
  response: Response,
  assembly: Assembly,
  terminal: boolean,
  signal: AbortSignal,
): Promise<void> => {
  if (!response.body) throw new Invalid('an answer without a body')
  const reader = readFrames(response.body)
  // A body may know nothing of the signal that its request was made with.
  const stop = () => void reader.cancel(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    await pushFrames(reader, assembly, terminal)
    signal.throwIfAborted()
    if (!assembly.complete) throw new Invalid('a stream that ended before its answer was complete')
  } finally {
    signal.removeEventListener('abort', stop)
    await reader.cancel()
  }
}

/** Pushes events up to the one after which nothing matters, or the end. */
const pushFrames = async (reader: FrameReader, assembly: Assembly, terminal: boolean): Promise<void> => {
  for (let frames = await reader.next(); frames; frames = await reader.next()) {
    for (const { event } of frames) {
      if (!event) continue
      assembly.push(event)
      if (isDone(event.data) || (terminal && assembly.complete)) return
    }
  }
}

const pushText = (text: string, assembly: Assembly): void => {
  for (const { event } of createFrames().push(new TextEncoder().encode(text))) if (event) assembly.push(event)
}

/** Whether an event is the line that both protocols end with. */
export const isDone = (data: string): boolean => data.trim() === '[DONE]'

const answerOf = (json: string, upstream = new Headers(), partial = false): Response => {
  const headers = new Headers(upstream)
  // Said of the stream that the answer was made from.
  for (const name of ['cache-control', 'x-accel-buffering', 'etag', 'content-md5', 'digest']) headers.delete(name)
  headers.set('content-type', 'application/json')
  if (partial) headers.set('x-upstream-partialresponse', 'true')
  return new Response(json, { headers })
}

const objectOr = (value: unknown): object | undefined =>
  typeof value === 'object' && value !== null ? value : undefined
