import { responseHeaders } from '../shared/headers.ts'
import { numberOf, parseLossless } from '../shared/lossless-json.ts'
import type { SseEvent } from './event.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * What an event says went wrong; undefined for any other event: one of type `error`, or one whose JSON has a truthy `error`, or `error` for its `type`, as the
 * streams of text generation have it. Numbers are kept as they stand.
 *
 * @param json its data as `parseExact` reads it, for whoever has it already
 */
export const errorOf = ({ type, data }: SseEvent, json: unknown = jsonIn(data)): object | undefined => {
  if (typeof json !== 'object' || json === null) return type === 'error' ? { message: data } : undefined
  const isError = type === 'error' || ('error' in json && json.error && !('response' in json)) || isErrorEvent(json)
  return isError ? json : undefined
}

const jsonIn = (data: string): unknown => {
  try {
    return parseLossless(data)
  } catch {
    return undefined
  }
}

const isErrorEvent = (value: object): boolean => 'type' in value && value.type === 'error'

/** The HTTP status that an error stands for: a number from 400 to 599 in `status`, `status_code` or `code`, or else what the word in `code` or `type` means; 502 when nothing says. */
export const errorStatus = (said: object): number => {
  const { error = said } = said as Members
  const members = typeof error === 'object' && error !== null ? (error as Members) : {}
  for (const value of [members.status, members.status_code, members.code]) {
    const status = typeof value === 'string' ? Number(value) : numberOf(value)
    if (Number.isInteger(status) && status >= 400 && status <= 599) return status
  }
  for (const word of [members.code, members.type]) {
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

/** For `firstEvent`: an error is answered as the HTTP error that it is, in the upstream's words. */
export const answerError = (first: SseEvent, upstream = new Headers()): Response | undefined => {
  const said = errorOf(first)
  if (!said) return undefined
  const headers = responseHeaders(upstream)
  headers.set('content-type', 'application/json')
  return new Response(JSON.stringify(said), { status: errorStatus(said), headers })
}
