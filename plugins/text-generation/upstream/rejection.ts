import { upstreamRequestId } from '../../shared/headers.ts'
import { type Log, Problem } from '../../shared/problem.ts'
import { type RawResponse, UpstreamRejectedError } from '../../shared/upstream-error.ts'
import { errorDetails } from './error-details.ts'
import { nameOf, type TextUpstream } from './model-routing.ts'

/** An upstream has rejected the gateway's own credentials. The caller's are correct, and a repetition is of no use. */
export class UpstreamKeyRejectedError extends Problem {
  constructor() {
    super(502, 'upstream rejected the credentials of this gateway', { headers: { 'x-should-retry': 'false' } })
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
  if (status === 401 || (status === 403 && isAboutKey(response))) {
    log.error(fields, "upstream rejected the gateway's key")
    return new UpstreamKeyRejectedError()
  }
  log.info(fields, 'upstream rejected the request')
  return new UpstreamRejectedError(response)
}

const isAboutKey = (response: RawResponse): boolean =>
  errorDetails(response).some(({ code, message }) => keyCode.test(code) || keyMessage.test(message))

const keyCode =
  /authenticat|api[_ -]?key|access[_ -]?key|(?:invalid|missing|expired)[_ -]?\w*token|signature|credential/i
const keyMessage =
  /\b(?:invalid|incorrect|missing|expired|unknown|no valid)\b[^.]{0,30}\b(?:api[_ -]?key|access token|credentials?)\b/i
