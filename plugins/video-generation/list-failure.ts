import { UpstreamInvalidError, UpstreamRejectedError } from '../shared/upstream-error.ts'
import { UpstreamKeyRejectedError } from '../shared/upstream-key.ts'

/**
 * Whether a list of several tasks may have failed for what one of them is, so that a list without it may succeed: the response is too large, is no JSON
 * or must not be shown, or the upstream does not accept one of the ids.
 *
 * False for an upstream that is down, that is too busy, or that rejects the gateway's key: more calls would not help.
 */
export const mayBeOfOneTask = (error: unknown): boolean => {
  if (error instanceof UpstreamKeyRejectedError) return false
  if (error instanceof UpstreamInvalidError) return true
  return error instanceof UpstreamRejectedError && (error.status === 400 || error.status === 404)
}
