const addresses = new WeakMap<Request, string>()

/** Keeps where a request comes from, which a `Request` does not say. For servers, before they hand it to the app. */
export const deliverAddress = (request: Request, address: string | undefined): void => {
  if (address !== undefined) addresses.set(request, address)
}

/**
 * Where a request comes from: the peer's address; behind a proxy on this machine or in a private network, what that proxy says of its own peer (the last entry of
 * `X-Forwarded-For`). Undefined where the server did not say.
 */
export const addressOf = (request: Request): string | undefined => {
  const peer = addresses.get(request)
  if (peer === undefined || !isPrivate(peer)) return peer
  const last = request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim()
  return (last && withoutPort(last)) || peer
}

/** RFC 1918, RFC 4193, loopback and link-local, also as IPv4 within IPv6. */
const isPrivate = (address: string): boolean =>
  /^(?:::ffff:)?(?:127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.)|^(?:::1$|f[cd]|fe[89ab])/i.test(
    address,
  )

/** Some proxies name the port too, `203.0.113.5:40001` or `[2001:db8::1]:40001`; every connection has another one. */
const withoutPort = (address: string): string =>
  address.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1').replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1')
