import type { FailureScope } from '../background/divide.ts'
import { UpstreamInvalidError, UpstreamRejectedError, UpstreamUnreachableError } from './upstream-error.ts'

/**
 * Whether a call to an upstream may have failed for what one of its objects is. So it has if the response is too large,
 * is no JSON or must not be shown, or if the upstream does not accept one of the ids. An error 500 and a response that
 * never comes are unclear.
 */
export const scopeOfUpstreamFailure = (error: unknown): FailureScope => {
  if (error instanceof UpstreamInvalidError) return 'item'
  if (error instanceof UpstreamUnreachableError) return error.sent ? 'unclear' : 'all'
  if (!(error instanceof UpstreamRejectedError)) return 'all'
  if (error.status === 400 || error.status === 404) return 'item'
  // RFC 9110 section 15.6.4: 503 is about the whole server.
  return error.status >= 500 && error.status !== 503 ? 'unclear' : 'all'
}
