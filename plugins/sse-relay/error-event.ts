import { responseHeaders } from '../shared/http/headers.ts'
import { numberOf, parseOrUndefined } from '../shared/json/lossless.ts'
import type { SseEvent } from './event.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * Returns the JSON of an error event; undefined for other events.
 *
 * An error event has the type `error`, or its JSON has a truthy member `error` or the `type` `error`, as in streams of
 * text generation. Numbers keep their text.
 *
 * @param json the event's data as `parseLossless` returns it, if the caller has parsed it already
 */
export const readErrorEvent = (
  { type, data }: SseEvent,
  json: unknown = parseOrUndefined(data),
): object | undefined => {
  if (typeof json !== 'object' || json === null) return type === 'error' ? { message: data } : undefined
  const isError = type === 'error' || ('error' in json && json.error && !('response' in json)) || isErrorEvent(json)
  return isError ? json : undefined
}

const isErrorEvent = (value: object): boolean => 'type' in value && value.type === 'error'

/**
 * Returns the HTTP status for an error object.
 *
 * It is a number from 400 to 599 in `status`, `status_code` or `code`; else the status of a known error name in `code`
 * or `type`; else 502.
 */
export const errorStatus = (errorObject: object): number => {
  const { error = errorObject } = errorObject as Members
  const members = typeof error === 'object' && error !== null ? (error as Members) : {}
  for (const value of [members.status, members.status_code, members.code]) {
    const status = typeof value === 'string' ? Number(value) : numberOf(value)
    if (Number.isInteger(status) && status >= 400 && status <= 599) return status
  }
  for (const name of [members.code, members.type]) {
    const status = typeof name === 'string' ? statusByName[name] : undefined
    if (status !== undefined) return status
  }
  return 502
}

/** HTTP statuses of the error types and codes of OpenAI's API. */
const statusByName: Readonly<Partial<Record<string, number>>> = {
  invalid_request_error: 400,
  invalid_prompt: 400,
  context_length_exceeded: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  insufficient_quota: 429,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  server_error: 500,
  overloaded_error: 503,
}

/**
 * A `firstEvent` callback: it turns a first event that is an error into a response with the HTTP status of the error
 * and its JSON as body.
 */
export const errorResponse = (first: SseEvent, upstream: Headers = new Headers()): Response | undefined => {
  const error = readErrorEvent(first)
  if (!error) return undefined
  const headers = responseHeaders(upstream)
  headers.set('content-type', 'application/json')
  return new Response(JSON.stringify(error), { status: errorStatus(error), headers })
}
