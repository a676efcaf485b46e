import { createHmac } from 'node:crypto'
import { areMacsEqual } from '../identity/equal-secrets.ts'
import { signingSecret } from '../plugin/options.ts'

export interface CookieOptions {
  readonly name: string
  /** The first secret signs; every secret verifies. */
  readonly secrets: readonly string[]
  /** Whether the cookie gets the `Secure` attribute. */
  readonly secure: () => boolean
}

/** Signed cookies with one name. */
export interface Cookies {
  /**
   * The value of the request's cookie. Undefined unless the request has exactly one of that name, with a valid
   * signature.
   */
  read(request: Request): string | undefined
  /** The values of all cookies of that name with a valid signature. */
  readAll(request: Request): readonly string[]
  /** The `Set-Cookie` header for a value (RFC 6265 section 4.1). */
  issue(value: string, maxAgeSeconds: number): string
  /** The `Set-Cookie` header that makes the browser delete the cookie. */
  clear(): string
}

export const createCookies = ({ name, secrets, secure }: CookieOptions): Cookies => {
  const signing = signingSecret(secrets)
  const unsign = (signed: string): string | undefined => {
    if (!pattern.test(signed)) return undefined
    const value = signed.slice(0, signed.indexOf('.'))
    return secrets.some((secret) => areMacsEqual(signed, sign(value, secret))) ? value : undefined
  }
  const write = (content: string, maxAgeSeconds: number) =>
    `${name}=${content}; Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax${secure() ? '; Secure' : ''}`

  const signedValues = (request: Request): readonly string[] =>
    (request.headers.get('cookie') ?? '')
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${name}=`))
      .map((pair) => pair.slice(name.length + 1))

  return {
    read(request) {
      const [first, second] = signedValues(request)
      // A sibling subdomain can set a second cookie of that name. The request does not show which of the two is ours.
      return first === undefined || second !== undefined ? undefined : unsign(first)
    },
    readAll: (request) =>
      signedValues(request)
        .map(unsign)
        .filter((value) => value !== undefined),
    issue: (value, maxAgeSeconds) => write(sign(value, signing), maxAgeSeconds),
    clear: () => write('', 0),
  }
}

/** A base64url value with its HMAC-SHA-256 in base64. For any other text no HMAC is computed. */
const pattern = /^[\w-]{1,1024}\.[A-Za-z0-9+/]{43}$/

/** Signs a value in the format of `@elysiajs/cookie` and `cookie-signature`, so that a host can verify it with them. */
const sign = (value: string, secret: string): string =>
  `${value}.${createHmac('sha256', secret).update(value).digest('base64').replace(/=+$/, '')}`
