import { upstreamRequestId } from '../../shared/http/headers.ts'
import type { Log, Problem } from '../../shared/problem.ts'
import { type RawResponse, UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'
import { rejectsKey, UpstreamKeyRejectedError } from '../../shared/upstream/upstream-key.ts'
import { nameOf, type TextUpstream } from '../models/routing.ts'

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
