import { type ClientRequest, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { findTargets, type TargetRules } from './address.ts'

/** A request to an address that a user has given. */
export interface TargetRequest {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string | number>>
  /** Certificates of authorities that are trusted instead of the system's. For tests. */
  readonly ca?: string | undefined
}

/**
 * Calls `send` with the first address of a URL that may be reached, and with the second one if nobody can be reached at
 * the first.
 */
export const atTarget = async <Result>(
  url: URL,
  rules: TargetRules,
  deadline: AbortSignal,
  send: (address: string) => Promise<Result>,
): Promise<Result> => {
  const [first = '', second] = await findTargets(url, rules, deadline)
  return send(first).catch((error: unknown) => {
    if (second === undefined || !isUnreachable(error) || deadline.aborted) throw error
    return send(second)
  })
}

/**
 * Opens a request to a URL at one of its addresses. Redirects are not followed.
 *
 * The connection goes to an address that was checked, not to the name: the name may resolve to another address the next
 * time.
 */
export const openRequest = (address: string, url: URL, { method, headers, ca }: TargetRequest): ClientRequest => {
  const secure = url.protocol === 'https:'
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return (secure ? httpsRequest : httpRequest)({
    host: address,
    family: isIP(address),
    port: url.port || (secure ? 443 : 80),
    method,
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host, connection: 'close' },
    // One connection for each request: an address that is reused is not checked again.
    agent: false,
    maxHeaderSize,
    // The certificate must be for the name in the URL.
    ...(secure && isIP(name) === 0 && { servername: name }),
    ...(ca !== undefined && { ca }),
  })
}

const maxHeaderSize = 16_384

/** An error of a connection, with a message for the user: without the address, which tells what a name resolves to. */
export const connectionError = (error: Error): Error => {
  const code = 'code' in error ? String(error.code) : ''
  return new Error(messageOfCode(code), { cause: error })
}

const messageOfCode = (code: string): string => {
  if (/CERT|SELF_SIGNED|ALTNAME|SSL|TLS|EPROTO/i.test(code)) return 'the certificate of the host is not valid'
  return unreachable.test(code) ? 'the host is not reachable' : 'the connection was interrupted'
}

const unreachable = /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT/

const isUnreachable = (error: unknown): boolean =>
  error instanceof Error &&
  error.cause instanceof Error &&
  'code' in error.cause &&
  unreachable.test(String(error.cause.code))

/** Rejects when the signal aborts. */
export const unlessAborted = <Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> =>
  new Promise((resolve, reject) => {
    const abort = () => reject(new Error('no response in time'))
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
