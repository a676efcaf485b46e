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
  if (siteOf(request, publicUrl) !== 'same') throw foreign()
}

/**
 * The same, but lets through what says nothing of where it is from, as programs do. For a login, which no cookie authenticates, but which a foreign page
 * must not do either: its visitor would go on as somebody else.
 */
export const refuseForeignOrigin = (request: Request, publicUrl: PublicUrl): void => {
  if (siteOf(request, publicUrl) === 'foreign') throw foreign()
}

const siteOf = ({ headers }: Request, publicUrl: PublicUrl): 'same' | 'foreign' | 'unknown' => {
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  if (origin !== null) return origin === readPublicUrl(publicUrl).origin ? 'same' : 'foreign'
  // `none` is the person at the address bar, who changes nothing from there: no proof, but no stranger either.
  if (site === null || site === 'none') return 'unknown'
  return site === 'same-origin' ? 'same' : 'foreign'
}

const foreign = () => new Problem(403, 'request comes from a foreign origin')
