import { responseOf } from '../http/body/known-body.ts'
import { Problem } from '../problem.ts'

/** A custom `fetch`: for tests, or for a runtime whose own `fetch` repeats requests that must be sent once. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** A response as the upstream sent it. */
export interface RawResponse {
  readonly status: number
  /** The upstream's headers that a caller may see. */
  readonly headers: Headers
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** The upstream responded with an error status. Renders as that response: status, body and content type unchanged. */
export class UpstreamRejectedError extends Problem {
  readonly response: RawResponse

  constructor(response: RawResponse) {
    super(response.status, `upstream responded with status ${response.status}`)
    this.response = response
  }

  override toResponse(): Response {
    return toResponse(this.response)
  }
}

/** The upstream was not called: its circuit is open. A `fetch` of `createCircuitBreakers` rejects with it. */
export class CircuitOpenError extends Error {
  /** Seconds after which a call may be sent again. */
  readonly retrySeconds: number

  constructor(retrySeconds: number) {
    super('the upstream has failed repeatedly, and is tried again in a moment')
    this.name = 'CircuitOpenError'
    this.retrySeconds = retrySeconds
  }
}

/**
 * There was no complete response. `sent` is false if the upstream certainly did not receive the request. While its
 * circuit is open, the response has a `Retry-After`.
 */
export class UpstreamUnreachableError extends Problem {
  readonly sent: boolean

  constructor(cause: unknown, sent: boolean, message = 'Seedance upstream unavailable') {
    const isOpen = cause instanceof CircuitOpenError
    super(502, message, { cause, ...(isOpen && { headers: { 'retry-after': String(cause.retrySeconds) } }) })
    this.sent = sent
  }
}

/** The upstream's response is invalid, so the gateway cannot forward it. */
export class UpstreamInvalidError extends Problem {
  constructor(cause: string) {
    super(502, 'upstream returned an invalid response', { cause })
  }
}

/** Converts an upstream response to a `Response` with the same bytes. */
export const toResponse = ({ status, headers, bytes }: RawResponse): Response =>
  bytes.length === 0 ? new Response(null, { status, headers }) : responseOf(bytes, { status, headers })

/** Whether the error proves that no connection was made. Any other error counts as sent. */
export const isNeverSent = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  if (error instanceof CircuitOpenError) return true
  const code = 'code' in error ? String(error.code) : ''
  return (
    /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ConnectionRefused|FailedToOpenSocket|DNS)/i.test(
      code,
    ) ||
    /connection refused|dns error|failed to lookup/i.test(error.message) ||
    isNeverSent(error.cause)
  )
}
