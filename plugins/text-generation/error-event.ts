import type { SseEvent } from '../sse-relay/index.ts'
import { Refusal } from '../upstream-proxy/index.ts'

/**
 * What an upstream said went wrong, in an event of a stream that nobody has seen anything of yet, as the HTTP error that it is: the same words, and the
 * status that they stand for.
 */
export const refusalOf = (said: object, headers = new Headers()): Refusal => {
  const error = errorIn(said)
  const answer = new Headers(headers)
  answer.set('content-type', 'application/json')
  return new Refusal({
    status: statusOf(error),
    headers: answer,
    bytes: new TextEncoder().encode(JSON.stringify({ error })),
  })
}

/** The error in `{"error":{…}}`, or the members of an error event of the Responses protocol in the names of an error. */
const errorIn = (said: object): Readonly<Record<string, unknown>> => {
  const { error, type, sequence_number: _, ...members } = said as Readonly<Record<string, unknown>>
  if (typeof error === 'object' && error !== null) return error as Readonly<Record<string, unknown>>
  if (error !== undefined) return { message: String(error), type: 'upstream_error', param: null, code: null }
  return {
    message: 'upstream error',
    param: null,
    code: null,
    ...members,
    type: type === 'error' ? 'server_error' : type,
  }
}

const statusOf = (error: Readonly<Record<string, unknown>>): number => {
  for (const value of [error.status, error.status_code, error.code]) {
    const status = Number(value)
    if (Number.isInteger(status) && status >= 400 && status <= 599) return status
  }
  for (const word of [error.code, error.type]) {
    const status = typeof word === 'string' ? byWord[word] : undefined
    if (status !== undefined) return status
  }
  return 502
}

/** Statuses that the protocol's own words for errors come with. */
const byWord: Readonly<Partial<Record<string, number>>> = {
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

/** What an event says went wrong; undefined for any other event. Both protocols' forms, as the official client knows them. */
export const errorOf = ({ type, data }: SseEvent): object | undefined => {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    return type === 'error' ? { message: data } : undefined
  }
  if (typeof value !== 'object' || value === null) return type === 'error' ? { message: data } : undefined
  return type === 'error' || ('error' in value && value.error && !('response' in value)) || isErrorEvent(value)
    ? value
    : undefined
}

const isErrorEvent = (value: object): boolean => 'type' in value && value.type === 'error'
