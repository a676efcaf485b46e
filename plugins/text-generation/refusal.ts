import { errorStatus } from '../sse-relay/index.ts'
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
    status: errorStatus(error),
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
