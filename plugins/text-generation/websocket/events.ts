import { Buffer } from 'node:buffer'
import { type Awaitable, andThen, isPromise } from '../../shared/awaitable.ts'
import { byteSourceOf, sourceFrom } from '../../shared/http/body/byte-source.ts'
import {
  type Json,
  JsonError,
  type JsonLimits,
  maxBytesAtOnce,
  readJson,
  readJsonInTurns,
  responseLimits,
} from '../../shared/json/json.ts'
import { parseOrUndefined } from '../../shared/json/lossless.ts'
import { asJsonObject, type JsonObject } from '../../shared/json/parsed.ts'
import type { Problem } from '../../shared/problem.ts'
import { createFrameSplitter, type Frame } from '../../sse-relay/index.ts'
import { textProblemBody } from '../protocol/problem.ts'
import { incompleteStreamMessage } from '../protocol/protocol.ts'

/**
 * An error as an event (https://developers.openai.com/api/docs/guides/websocket-mode). Clients tell what to do by
 * status and code.
 */
export interface ErrorEvent extends JsonObject {
  readonly type: 'error'
  readonly status: number
  readonly error: object
}

export const errorEventOf = (problem: Problem): ErrorEvent => ({
  type: 'error',
  status: problem.status,
  ...(textProblemBody(problem as Problem) as { error: object }),
  ...headersOf(new Headers(problem.headers)),
})

/** The error event for an HTTP response. */
export const errorEventOfResponse = async (response: Response): Promise<ErrorEvent> => {
  const { status, headers } = response
  const text = await response.text()
  const body = asJsonObject(parseOrUndefined(text))
  const error = asJsonObject(body?.error) ?? {
    ...{ message: `HTTP status ${status}`, type: status >= 500 ? 'server_error' : 'invalid_request_error' },
    ...{ param: null, code: null },
  }
  return { type: 'error', status, error, ...headersOf(headers) }
}

/** Headers that tell a client when to retry, and the id of the request. */
const headersOf = (headers: Headers): { readonly headers?: Record<string, string> } => {
  const told = [...headers].filter(([name]) =>
    /^(?:retry-after(?:-ms)?|x-should-retry|x-request-id|x-ratelimit-.*)$/.test(name),
  )
  return told.length > 0 ? { headers: Object.fromEntries(told) } : {}
}

/** The text of a message. In a named lane, every event has its name. */
export const messageOf = (event: JsonObject | string, streamId: string | undefined): string => {
  const text = typeof event === 'string' ? event : JSON.stringify(event)
  const at = text.indexOf('{')
  return streamId === undefined || at === -1 ? text : `{"stream_id":${JSON.stringify(streamId)},${text.slice(at + 1)}`
}

export interface RelayedEvents {
  /** Sends a message. A promise applies backpressure. */
  readonly send: (event: string) => Promise<void> | undefined
  /** Aborts when the connection has closed. */
  readonly signal: AbortSignal
}

/**
 * Sends each event of a stream as a message. Resolves with the response if it is complete.
 *
 * Every stream ends with a terminal event or an error event with a status: without them, a client would wait on the
 * open connection.
 */
export const relayEvents = async (response: Response, { send, signal }: RelayedEvents): Promise<Json | undefined> => {
  const source = byteSourceOf(response) ?? (response.body && sourceFrom(response.body))
  const splitter = createFrameSplitter({ maxEventBytes: Number.POSITIVE_INFINITY })
  const cancel = () => void source?.cancel()
  let hasEnded = false
  let complete: Json | undefined
  const onFrame = ({ event }: Frame) => {
    if (!event || hasEnded || event.data === '[DONE]') return undefined
    const { data } = event
    return mayEnd.test(data) ? andThen(readEvent(data), (json) => onEnding(data, json)) : send(data)
  }
  const onEnding = (data: string, json: Json | undefined) => {
    const type = json?.get('type')?.string() ?? ''
    if (type === 'error') {
      hasEnded = true
      return send(JSON.stringify(withStatus(asJsonObject(parseOrUndefined(data)) ?? {})))
    }
    if (endings.has(type)) {
      hasEnded = true
      if (type !== 'response.failed') complete = json?.get('response')
    }
    return send(data)
  }
  /** The events that wait for one before them. */
  let waiting: Promise<void> | undefined
  const write = (bytes: Uint8Array) => {
    for (const frame of splitter.push(bytes)) {
      const sent = waiting ? waiting.then(() => onFrame(frame)) : onFrame(frame)
      waiting = isPromise(sent) ? sent : undefined
    }
    const last = waiting
    const clear = () => {
      if (waiting === last) waiting = undefined
    }
    last?.then(clear, clear)
    return last
  }
  try {
    signal.addEventListener('abort', cancel)
    if (signal.aborted) cancel()
    await source?.writeTo(write)
    await waiting
    const last = splitter.end()
    if (last) await onFrame(last)
  } finally {
    signal.removeEventListener('abort', cancel)
    if (!hasEnded && !signal.aborted)
      send(JSON.stringify(withStatus({ type: 'error', message: incompleteStreamMessage })))
  }
  return complete
}

/** The JSON of an event, undefined if it is none. Long data is read over several turns of the event loop. */
const readEvent = (data: string): Awaitable<Json | undefined> => {
  if (data.length > maxBytesAtOnce) return readJsonInTurns(Buffer.from(data), eventLimits).catch(ignoreInvalid)
  try {
    return readJson(data, eventLimits)
  } catch (error) {
    return ignoreInvalid(error)
  }
}

const ignoreInvalid = (error: unknown): undefined => {
  if (!(error instanceof JsonError)) throw error
}

/** A response may repeat its request, which has at most 64 levels. */
const eventLimits: JsonLimits = { ...responseLimits, maxDepth: 128 }

const endings: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed'])
const mayEnd = /"type"\s*:\s*"(?:response\.(?:completed|incomplete|failed)|error)"/

/** An error event of a stream, with the members that clients of this mode read. */
const withStatus = (event: JsonObject): ErrorEvent => {
  const { message = null, code = null, param = null } = event
  const error = asJsonObject(event.error) ?? { type: 'server_error', code, message, param }
  return { ...event, type: 'error', status: error.code === 'invalid_api_key' ? 401 : 502, error }
}
