/**
 * What of a caller's headers an upstream may see. A list of what is let through, not of what is held back: the caller's credentials, addresses
 * that proxies in front add, method overrides and hop-by-hop fields (RFC 9110 section 7.6.1) are all things nobody can list in full.
 */
const forwarded = ['accept', 'accept-language', 'traceparent', 'tracestate', 'x-request-id']

/** @param also names of further headers to let through */
export const requestHeaders = (caller: Headers | undefined, also?: readonly string[]): Headers =>
  new Headers(forwardedHeaders(caller, also))

/** The same by their names in lower case, to which further ones may be added before `fetch` makes what it needs of them. */
export const forwardedHeaders = (caller: Headers | undefined, also: readonly string[] = []): Record<string, string> => {
  const headers: Record<string, string> = {
    // Answers are read, so a coded one would only have to be decoded again.
    'accept-encoding': 'identity',
    'user-agent': 'sluice',
    via: '1.1 sluice',
  }
  if (!caller) return headers
  for (const name of forwarded) forward(caller, name, headers)
  for (const name of also) forward(caller, name.toLowerCase(), headers)
  return headers
}

const forward = (caller: Headers, name: string, headers: Record<string, string>): void => {
  const value = caller.get(name)
  if (value !== null) headers[name] = value
}

/**
 * What of an upstream's headers a caller may see: what its answer is, when to ask again, and the ids by which it can be found in logs. A list of what is let
 * through: everything else speaks of the gateway's account, of the upstream's origin, or of a connection, or tells a proxy or a browser what to do.
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
  // Of a gateway like this one.
  'x-upstream-partialresponse',
])

/** Limits are everybody's. How much of them is left says what others use of the account, unless the answer itself says that nothing is. */
const passes = (name: string, status: number): boolean =>
  passed.has(name) || name.startsWith('x-ratelimit-limit') || (status === 429 && name.startsWith('x-ratelimit-'))

const nosniff = 'x-content-type-options'
const policy = 'content-security-policy'
/** No browser guesses a type, and none runs what is no page of this origin, whoever wrote it (CSP Level 3, section 6.3.2). */
const inertHeaders = { [nosniff]: 'nosniff', [policy]: "default-src 'none'; sandbox" } as const
/** To be copied, which costs less than to make them again. */
const onlyInert = new Headers(inertHeaders)

const none: readonly string[] = []

/** Headers of an upstream's answer as a caller gets them: those that may pass, less what its `Connection` names; and those that make the body inert. */
export const responseHeaders = (upstream: Headers, status = 200): Headers => {
  const headers = new Headers(onlyInert)
  const connection = upstream.get('connection')
  const named = connection === null ? none : connection.split(',').map((name) => name.trim().toLowerCase())
  // Their own iterator costs more.
  upstream.forEach((value, name) => {
    if (passes(name, status) && !named.includes(name)) headers.append(name, value)
  })
  return headers
}

/** The same answer with the headers that make it inert; a page has a policy of its own, which it keeps. */
export const inert = (response: Response): Response => {
  const { headers } = response
  headers.set(nosniff, inertHeaders[nosniff])
  if (!headers.has(policy)) headers.set(policy, inertHeaders[policy])
  return response
}

const harmless = /^\s*(?:application\/(?:[\w.-]+\+)?json|text\/plain)\s*$/i

/** The same answer for where a browser asks with its cookie: what is not JSON is plain text there, whatever the upstream calls it. */
export const asText = (response: Response): Response => {
  const [type = '', ...parameters] = response.headers.get('content-type')?.split(';') ?? []
  if (type !== '' && !harmless.test(type)) {
    response.headers.set('content-type', ['text/plain', ...parameters].join(';'))
  }
  return response
}
