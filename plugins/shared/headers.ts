/**
 * What of a caller's headers an upstream may see. A list of what is let through, not of what is held back: the caller's credentials, addresses
 * that proxies in front add, method overrides and hop-by-hop fields (RFC 9110 section 7.6.1) are all things nobody can list in full.
 */
const forwarded = ['accept', 'accept-language', 'traceparent', 'tracestate', 'x-request-id']

/** @param also names of further headers to let through */
export const requestHeaders = (caller: Headers | undefined, also: readonly string[] = []): Headers => {
  const headers = new Headers({
    // Answers are read, so a coded one would only have to be decoded again.
    'accept-encoding': 'identity',
    'user-agent': 'sluice',
    via: '1.1 sluice',
  })
  for (const name of caller ? [...forwarded, ...also] : []) {
    const value = caller?.get(name)
    if (value != null) headers.set(name, value)
  }
  return headers
}

/** What an upstream says to its own client, the gateway, or to a browser about its own origin. */
const withheld = new Set([
  // Hop by hop: RFC 9110 section 7.6.1.
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // True of the bytes on the upstream's connection, which have been read and decoded since.
  'content-encoding',
  'content-length',
  'date',
  // About the gateway's account, not the caller's.
  'authentication-info',
  'set-cookie',
  'set-cookie2',
  'www-authenticate',
  // About the upstream's origin, which the caller does not talk to.
  'alt-svc',
  'clear-site-data',
  'location',
  'server',
  'strict-transport-security',
  'x-powered-by',
])

/** Headers of an upstream's answer that a caller may see: all but `withheld`, CORS, and those that its `Connection` names. */
export const responseHeaders = (upstream: Headers): Headers => {
  const named = new Set(
    (upstream.get('connection') ?? '')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  )
  const headers = new Headers()
  for (const [name, value] of upstream) {
    if (!withheld.has(name) && !named.has(name) && !name.startsWith('access-control-')) headers.append(name, value)
  }
  return headers
}
