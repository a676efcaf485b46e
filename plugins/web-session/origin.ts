import { refused } from '../shared/audit.ts'
import { Problem } from '../shared/problem.ts'

/** The address that browsers use, such as `https://sluice.example`. A function where it is known only once the server listens. */
export type PublicUrl = string | (() => string)

/** Throws TypeError when it is no address. */
export const readPublicUrl = (publicUrl: PublicUrl): URL =>
  new URL(typeof publicUrl === 'string' ? publicUrl : publicUrl())

/**
 * Lets through only what a page of the public address sends: by `Origin` (RFC 6454), or `Sec-Fetch-Site` where there is none. For requests that change
 * something and that a cookie authenticates: a browser attaches the cookie whoever asks, and SameSite trusts every neighbouring subdomain.
 *
 * Throws Problem 403, also when both headers are missing.
 */
export const requireSameOrigin = (request: Request, publicUrl: PublicUrl): void => {
  if (siteOf(request, publicUrl) !== 'same') throw new Problem(403, foreignOrigin, { event: refused('origin') })
}

/**
 * Whether a page of another address sends it; not so what says nothing of where it is from, as programs do. For a login, which no cookie authenticates, but which a
 * foreign page must not do either: its visitor would go on as somebody else.
 */
export const isForeign = (request: Request, publicUrl: PublicUrl): boolean => siteOf(request, publicUrl) === 'foreign'

export const foreignOrigin = 'request comes from a foreign origin'

/** For somebody who has proved to be one of ours, and uses an address that the operator did not name. */
export const otherAddress = (publicUrl: PublicUrl): string =>
  `this page is not at the address of this service: log in at ${readPublicUrl(publicUrl).origin}`

const siteOf = ({ headers }: Request, publicUrl: PublicUrl): 'same' | 'foreign' | 'unknown' => {
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  if (origin !== null) return originsOf(publicUrl).includes(origin) ? 'same' : 'foreign'
  // `none` is the person at the address bar, who changes nothing from there: no proof, but no stranger either.
  if (site === null || site === 'none') return 'unknown'
  return site === 'same-origin' ? 'same' : 'foreign'
}

/** The names by which a browser reaches the machine that it runs on, and that nobody else can have (RFC 6761 section 6.3). No other name counts, wherever it leads. */
const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** The public address's own origin. On loopback, that of each name: people type any of them, and cookies keep to the name that was typed. */
const originsOf = (publicUrl: PublicUrl): readonly string[] => {
  const { protocol, hostname, port, origin } = readPublicUrl(publicUrl)
  if (!loopbackNames.includes(hostname)) return [origin]
  return loopbackNames.map((name) => new URL(`${protocol}//${name}:${port}`).origin)
}
