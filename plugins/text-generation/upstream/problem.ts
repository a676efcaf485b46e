import { upstreamRequestId } from '../../shared/http/headers.ts'
import { type Log, Problem } from '../../shared/problem.ts'
import { type RawResponse, UpstreamInvalidError, UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'
import { rejectsKey, UpstreamKeyRejectedError } from '../../shared/upstream/upstream-key.ts'
import { EventTooLargeError, errorStatus } from '../../sse-relay/index.ts'
import { nameOf, type TextUpstream } from '../models/routing.ts'
import { StreamError } from '../protocol/assembly.ts'
import { upstreamUnavailable } from '../protocol/problem.ts'
import { requireNoCredential } from './credentials.ts'

/**
 * The HTTP error for a failure before the caller has received any byte. Throws UpstreamInvalidError when the error
 * would contain a credential.
 */
export const problemOf = (error: unknown, upstream: TextUpstream, log: Log, headers?: Headers): Problem => {
  if (!(error instanceof StreamError)) return asProblem(error)
  if (error.upstreamError === undefined) return new UpstreamInvalidError(error.message)
  requireNoCredential(upstream, JSON.stringify(error.upstreamError))
  return rejectionOf(errorResponse(error.upstreamError, headers), { upstream, log })
}

/** Converts any error to a Problem. Errors that are none count as failures of the upstream. */
const asProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error
  return error instanceof EventTooLargeError
    ? new UpstreamInvalidError(error.message)
    : upstreamUnavailable(error, true)
}

/**
 * Converts the first event of a stream, if it is an error, to an HTTP error: the upstream's message, and the status
 * that belongs to it.
 */
const errorResponse = (upstreamError: object, headers = new Headers()): RawResponse => {
  const error = errorOf(upstreamError)
  const responseHeaders = new Headers(headers)
  responseHeaders.set('content-type', 'application/json')
  return {
    status: errorStatus(error),
    headers: responseHeaders,
    bytes: new TextEncoder().encode(JSON.stringify({ error })),
  }
}

/** The error object in `{"error":{…}}`, or an error event of the Responses protocol converted to an error object. */
const errorOf = (upstreamError: object): Readonly<Record<string, unknown>> => {
  const { error, type, sequence_number: _, ...members } = upstreamError as Readonly<Record<string, unknown>>
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

/**
 * The error for an error response of an upstream.
 *
 * It is the upstream's own, except where the upstream rejects the gateway's key: status 401, or 403 with a code of
 * authentication. The log then says so, because only the operator can correct it.
 */
export const rejectionOf = (
  response: RawResponse,
  { upstream, action, log }: { readonly upstream: TextUpstream; readonly action?: string; readonly log: Log },
): Problem => {
  const { status, headers } = response
  const fields = {
    upstream: nameOf(upstream),
    action,
    status,
    upstreamRequestId: headers.get(upstreamRequestId) ?? undefined,
  }
  if (rejectsKey(response)) {
    log.error(fields, "upstream rejected the gateway's key")
    return new UpstreamKeyRejectedError()
  }
  log.info(fields, 'upstream rejected the request')
  return new UpstreamRejectedError(response)
}
