import { Buffer } from 'node:buffer'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { findTargets, type TargetRules } from '../address/address.ts'

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
  const [first = '', second] = await findTargets(url, options.rules, deadline)
  return sendTo(first, url, options, deadline).catch((error: unknown) => {
    if (second === undefined || !isUnreachable(error) || deadline.aborted) throw error
    return sendTo(second, url, options, deadline)
  })
}

const sendTo = async (
  address: string,
  url: URL,
  { headers, body, ca }: PostOptions,
  deadline: AbortSignal,
): Promise<number> => {
  const secure = url.protocol === 'https:'
  const bytes = Buffer.from(body)
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const sent = (secure ? httpsRequest : httpRequest)({
    host: address,
    family: isIP(address),
    port: url.port || (secure ? 443 : 80),
    method: 'POST',
    path: `${url.pathname}${url.search}`,
    headers: {
      ...headers,
      host: url.host,
      'content-length': bytes.length,
      connection: 'close',
    },
    // One connection for each request: an address that is reused is not checked again.
    agent: false,
    maxHeaderSize,
    // The certificate must be for the name in the URL.
    ...(secure && isIP(name) === 0 && { servername: name }),
    ...(ca !== undefined && { ca }),
  })
  const status = new Promise<number>((resolve, reject) => {
    sent.on('response', ({ statusCode = 0 }) => resolve(statusCode))
    sent.on('error', (error) => reject(new Error(messageOfCode(error), { cause: error })))
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

const maxHeaderSize = 16_384

const unlessAborted = <Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> =>
  new Promise((resolve, reject) => {
    const abort = () => reject(new Error('no response in time'))
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })

/** A message for the user, without the address: it would tell what a name resolves to. */
const messageOfCode = (error: Error): string => {
  const code = 'code' in error ? String(error.code) : ''
  if (/CERT|SELF_SIGNED|ALTNAME|SSL|TLS|EPROTO/i.test(code)) return 'the certificate of the host is not valid'
  return unreachable.test(code) ? 'the host is not reachable' : 'the connection was interrupted'
}

const unreachable = /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT/

const isUnreachable = (error: unknown): boolean =>
  error instanceof Error &&
  error.cause instanceof Error &&
  'code' in error.cause &&
  unreachable.test(String(error.cause.code))
