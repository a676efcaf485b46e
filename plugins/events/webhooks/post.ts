import { Buffer } from 'node:buffer'
import type { TargetRules } from '../address/address.ts'
import { atTarget, connectionError, openRequest, unlessAborted } from '../address/request.ts'

/** Options of `post`. */
export interface PostOptions {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly rules: TargetRules
  /** Milliseconds for everything: name, connection and response. */
  readonly deadlineMs: number
  readonly signal: AbortSignal
  /** Certificates of authorities that are trusted instead of the system's. For tests. */
  readonly ca?: string
}

/** Sends a request to an address that a user has given. @returns the status of the response */
export type Post = (options: PostOptions) => Promise<number>

/**
 * Sends a POST request once, and returns the status of the response. Rejects with an error whose message the user may
 * see; its cause is for the log.
 *
 * The connection goes to an address that was checked, not to the name: the name may resolve to another address the next
 * time. Redirects are not followed, and the body of the response is not read. When the promise settles, neither a
 * look-up nor a connection is open.
 */
export const post: Post = async (options) => {
  const url = new URL(options.url)
  const deadline = AbortSignal.any([options.signal, AbortSignal.timeout(options.deadlineMs)])
  return atTarget(url, options.rules, deadline, (address) => sendTo(address, url, options, deadline))
}

const sendTo = async (
  address: string,
  url: URL,
  { headers, body, ca }: PostOptions,
  deadline: AbortSignal,
): Promise<number> => {
  const bytes = Buffer.from(body)
  const sent = openRequest(address, url, {
    method: 'POST',
    headers: { ...headers, 'content-length': bytes.length },
    ca,
  })
  const status = new Promise<number>((resolve, reject) => {
    sent.on('response', ({ statusCode = 0 }) => resolve(statusCode))
    sent.on('error', (error) => reject(connectionError(error)))
    sent.on('close', () => reject(new Error('the connection was closed without a response')))
  })
  status.catch(() => {})
  try {
    sent.end(bytes)
    return await unlessAborted(status, deadline)
  } finally {
    sent.on('error', () => {})
    sent.destroy()
  }
}
