import { readAtMost } from '../../shared/http/body/read-body.ts'
import type { Fetch } from '../../shared/upstream/upstream-error.ts'
import { ProviderUnreachableError } from './error.ts'

/** More than any provider answers: keys and metadata of the large ones have less than 20 KiB. */
export const maxAnswerBytes = 262_144

export interface BoundedFetchOptions {
  readonly fetch: Fetch
  /** Deadline of all requests together, from the first one. Milliseconds. */
  readonly timeoutMs: number
}

/**
 * A `fetch` for `openid-client` that reads at most `maxAnswerBytes` of a response, within the timeout, and sends
 * nothing in clear text over a network. Rejects with ProviderUnreachableError, also for a response of status 500 and
 * above.
 */
export const boundedFetch = ({ fetch, timeoutMs }: BoundedFetchOptions): Fetch => {
  let timeout: AbortSignal | undefined
  return async (url, init) => {
    timeout ??= AbortSignal.timeout(timeoutMs)
    const signal = timeout
    const { origin, pathname } = new URL(url)
    const fail = (reason: string, cause?: unknown) =>
      new ProviderUnreachableError(`${origin}${pathname} ${reason}`, { cause })
    if (!isConfidential(url)) throw fail('is not an https address')
    // A code is valid once, so its request is sent once.
    const response = await fetch(url, { ...init, signal, keepalive: false }).catch((cause: unknown) => {
      throw fail(signal.aborted ? 'did not answer in time' : 'could not be reached', cause)
    })
    if (response.status >= 500) {
      await response.body?.cancel()
      throw fail(`responded with status ${response.status}`)
    }
    const bytes = await readAtMost(response, maxAnswerBytes).catch((cause: unknown) => {
      throw fail(signal.aborted ? 'did not answer in time' : 'broke off its answer', cause)
    })
    if (!bytes) throw fail(`answered with more than ${maxAnswerBytes} bytes`)
    const headers = new Headers(response.headers)
    headers.delete('content-encoding')
    headers.delete('content-length')
    return new Response(bytes.length === 0 ? null : bytes, { status: response.status, headers })
  }
}

/** Whether requests to an address are encrypted, or stay on this machine. */
export const isConfidential = (url: string): boolean => {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname))
}
