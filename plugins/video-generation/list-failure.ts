import type { FailureScope } from '../shared/divide.ts'
import { UpstreamInvalidError, UpstreamRejectedError, UpstreamUnreachableError } from '../shared/upstream-error.ts'
import { UpstreamKeyRejectedError } from '../shared/upstream-key.ts'

/**
 * Whether a list may have failed for what one of its tasks is. So it has if the response is too large, is no JSON or must not be shown, or if the upstream does
 * not accept one of the ids. An error 500 and a response that never comes are unclear.
 */
export const scopeOfListFailure = (error: unknown): FailureScope => {
  if (error instanceof UpstreamKeyRejectedError) return 'all'
  if (error instanceof UpstreamInvalidError) return 'item'
  if (error instanceof UpstreamUnreachableError) return error.sent ? 'unclear' : 'all'
  if (!(error instanceof UpstreamRejectedError)) return 'all'
  if (error.status === 400 || error.status === 404) return 'item'
  // RFC 9110 section 15.6.4: 503 is about the whole server.
  return error.status >= 500 && error.status !== 503 ? 'unclear' : 'all'
}
