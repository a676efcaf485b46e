import { currentRequestId } from './current-request.ts'
import { noStoreHeaders } from './no-store.ts'

const requestId = 'x-request-id'

/**
 * Request headers of the caller that the gateway forwards to an upstream.
 *
 * This is an allowlist. A denylist would be incomplete: it needs all credentials, client addresses, method overrides
 * and hop-by-hop headers (RFC 9110 section 7.6.1).
 *
 * It has no trace context (W3C Trace Context, `traceparent` and `tracestate`): the upstream belongs to somebody else,
 * and one call may serve several requests. See the section on privacy:
 * https://www.w3.org/TR/trace-context/#privacy-considerations
 */
const forwarded = ['accept', 'accept-language']

/**
 * Headers for a request to an upstream: the allowed headers of the caller and those of the gateway.
 *
 * @param also names of further headers to forward
 */
export const requestHeaders = (caller: Headers | undefined, also?: readonly string[]): Headers =>
  new Headers(forwardedHeaders(caller, also))

/**
 * The headers of `requestHeaders` as a plain object with names in lower case, which is cheaper to extend than
 * `Headers`.
 */
export const forwardedHeaders = (caller: Headers | undefined, also: readonly string[] = []): Record<string, string> => {
  const headers: Record<string, string> = {
    // The gateway reads the responses, and would have to decompress them.
    'accept-encoding': 'identity',
    'user-agent': 'sluice',
    via: '1.1 sluice',
  }
  if (!caller) return headers
  for (const name of forwarded) forward(caller, name, headers)
  const id = currentRequestId() ?? caller.get(requestId)
  if (id !== null) headers[requestId] = id
  for (const name of also) forward(caller, name.toLowerCase(), headers)
  return headers
}

const forward = (caller: Headers, name: string, headers: Record<string, string>): void => {
  const value = caller.get(name)
  if (value !== null) headers[name] = value
}

/**
 * Response headers of an upstream that the gateway passes to the caller: content type, retry advice, and request ids
 * for the upstream's support.
 *
 * This is an allowlist: other headers may reveal the gateway's account or the upstream's origin, belong to one
 * connection, or instruct proxies and browsers.
 */
const passed = new Set([
  'content-type',
  'content-language',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'request-id',
  'x-request-id',
  'x-client-request-id',
  'x-ms-request-id',
  'apim-request-id',
  'x-tt-logid',
  'openai-processing-ms',
  'openai-version',
  // From another sluice gateway as upstream.
  'x-upstream-partialresponse',
  'x-dropped-tools',
])

/**
 * The remaining rate limit reveals the usage of other users of the account. Only a 429 may contain it, because it has
 * revealed that already.
 */
const passes = (name: string, status: number): boolean =>
  passed.has(name) || name.startsWith('x-ratelimit-limit') || (status === 429 && name.startsWith('x-ratelimit-'))

const nosniff = 'x-content-type-options'
const contentSecurityPolicy = 'content-security-policy'
/**
 * With these headers a browser does not guess the content type, and runs no script in the response (CSP Level 3,
 * section 6.3.2).
 */
const inertHeaders = { [nosniff]: 'nosniff', [contentSecurityPolicy]: "default-src 'none'; sandbox" } as const
/** A template: to copy `Headers` costs less than to create them from an object. */
const forwardedTemplate = new Headers({ ...inertHeaders, ...noStoreHeaders })

const none: readonly string[] = []

/** The upstream's request id. A server may replace `x-request-id` by an id of its own. */
export const upstreamRequestId = 'x-upstream-request-id'

/**
 * Response headers for the caller: the allowed ones of the upstream's response, without those that its `Connection`
 * names, the inert headers, and `Cache-Control: no-store`. The upstream does not know what the response depends on.
 */
export const responseHeaders = (upstream: Headers, status = 200): Headers => {
  const headers = new Headers(forwardedTemplate)
  const connection = upstream.get('connection')
  const named = connection === null ? none : connection.split(',').map((name) => name.trim().toLowerCase())
  // The iterator of `Headers` costs more than `forEach`.
  upstream.forEach((value, name) => {
    if (!passes(name, status) || named.includes(name)) return
    headers.append(name, value)
    if (name === requestId) headers.append(upstreamRequestId, value)
  })
  return headers
}

/**
 * Adds the inert headers to a response: `nosniff` and a Content-Security-Policy that allows nothing. An existing policy
 * remains.
 */
export const withInertHeaders = (response: Response): Response => {
  const { headers } = response
  headers.set(nosniff, inertHeaders[nosniff])
  if (!headers.has(contentSecurityPolicy)) headers.set(contentSecurityPolicy, inertHeaders[contentSecurityPolicy])
  return response
}

const harmless = /^\s*(?:application\/(?:[\w.-]+\+)?json|text\/plain)\s*$/i

/**
 * Changes the content type of a response to `text/plain`, unless it is JSON.
 *
 * For routes that browsers call with a session cookie: an upstream must not send them a page.
 */
export const asPlainText = (response: Response): Response => {
  const [type = '', ...parameters] = response.headers.get('content-type')?.split(';') ?? []
  if (type !== '' && !harmless.test(type)) {
    response.headers.set('content-type', ['text/plain', ...parameters].join(';'))
  }
  return response
}
