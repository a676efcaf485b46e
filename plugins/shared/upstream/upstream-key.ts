import { Problem } from '../problem.ts'
import { errorDetails } from './error-details.ts'
import type { RawResponse } from './upstream-error.ts'

/** An upstream has rejected the gateway's own credentials. The caller's are correct, and a repetition is of no use. */
export class UpstreamKeyRejectedError extends Problem {
  constructor() {
    super(502, 'upstream rejected the credentials of this gateway', { headers: { 'x-should-retry': 'false' } })
  }
}

/**
 * Whether an error response is about the gateway's own credentials: status 401, or 403 with a code of authentication.
 */
export const rejectsKey = (response: Pick<RawResponse, 'status' | 'bytes'>): boolean =>
  response.status === 401 || (response.status === 403 && isAboutKey(response))

const isAboutKey = (response: Pick<RawResponse, 'bytes'>): boolean =>
  errorDetails(response).some(({ code, message }) => keyCode.test(code) || keyMessage.test(message))

const keyCode =
  /authenticat|api[_ -]?key|access[_ -]?key|(?:invalid|missing|expired)[_ -]?\w*token|signature|credential/i
const keyMessage =
  /\b(?:invalid|incorrect|missing|expired|unknown|no valid)\b[^.]{0,30}\b(?:api[_ -]?key|access token|credentials?)\b/i
