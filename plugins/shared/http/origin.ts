import { accessDenied } from '../audit.ts'
import { andThen } from '../awaitable.ts'
import type { Identify } from '../identity/identify.ts'
import { Problem } from '../problem.ts'

/**
 * The address that browsers use, such as `https://sluice.example`, with the path that a proxy removes, if there is one.
 * A function when it is known only once the server listens.
 */
export type PublicUrl = string | (() => string)

/** Parses the public address. Throws TypeError when it is not a URL. */
export const readPublicUrl = (publicUrl: PublicUrl): URL =>
  new URL(typeof publicUrl === 'string' ? publicUrl : publicUrl())

/**
 * The public address with its path and without a slash at the end: a path of this service can follow it. Throws
 * TypeError when it is not a URL.
 */
export const publicBase = (publicUrl: PublicUrl): string => {
  const { origin, pathname } = readPublicUrl(publicUrl)
  return origin + pathname.replace(/\/+$/, '')
}

/**
 * Throws Problem 403 unless a page of the public address sends the request. Reads `Origin` (RFC 6454), or
 * `Sec-Fetch-Site` when there is no `Origin`.
 *
 * For requests that change something and that a cookie authenticates: a browser sends the cookie also for pages of
 * other sites, and SameSite trusts every subdomain of the site. Throws also when both headers are missing.
 *
 * @example
 * requireSameOrigin(request, 'https://app.example')
 */
export const requireSameOrigin = (request: Request, publicUrl: PublicUrl): void => {
  if (siteOf(request, publicUrl) !== 'same')
    throw new Problem(403, crossOriginMessage, { event: accessDenied('origin') })
}

/**
 * Whether a page of another origin sends the request. False for a request without both headers, as programs send it.
 *
 * For a login. No cookie authenticates it, but a foreign page must not log its visitor in as another user (login CSRF).
 */
export const isCrossOrigin = (request: Request, publicUrl: PublicUrl): boolean =>
  siteOf(request, publicUrl) === 'foreign'

/**
 * Throws when a page of another origin sends the request. For hosts that identify callers by a cookie:
 * `requireSameOrigin` with their address.
 */
export type RequireSameOrigin = (request: Request) => void

/**
 * Adds the origin check to `identify`, for identified callers and requests that may change something. Without a check,
 * returns `identify`.
 */
export const identifySameOrigin = (identify: Identify, requireOrigin: RequireSameOrigin | undefined): Identify => {
  if (!requireOrigin) return identify
  return (request) =>
    andThen(identify(request), (found) => {
      if (found && !safeMethods.has(request.method)) requireOrigin(request)
      return found
    })
}

/** Safe methods (RFC 9110 section 9.2.1). */
export const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export const crossOriginMessage = 'request comes from a foreign origin'

/** The message for a user who has sent the right password from an address that is not the public address. */
export const wrongOriginMessage = (publicUrl: PublicUrl): string =>
  `this page is not at the address of this service: log in at ${publicBase(publicUrl)}`

const siteOf = ({ headers }: Request, publicUrl: PublicUrl): 'same' | 'foreign' | 'unknown' => {
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  if (origin !== null) return originsOf(publicUrl).includes(origin) ? 'same' : 'foreign'
  // `none`: the user has entered the address or opened a bookmark. That is not a page of another origin, and proves
  // nothing.
  if (site === null || site === 'none') return 'unknown'
  return site === 'same-origin' ? 'same' : 'foreign'
}

/**
 * Hosts of the loopback interface. A name that merely resolves to loopback does not count: only `localhost` is reserved
 * (RFC 6761 section 6.3).
 */
const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/**
 * The origin of the public address.
 *
 * On loopback, the origins of all loopback hosts: users type any of them, and a cookie belongs to the one they typed.
 */
const originsOf = (publicUrl: PublicUrl): readonly string[] => {
  const { protocol, hostname, port, origin } = readPublicUrl(publicUrl)
  if (!loopbackNames.includes(hostname)) return [origin]
  return loopbackNames.map((name) => new URL(`${protocol}//${name}:${port}`).origin)
}
