import { createHmac } from 'node:crypto'
import { cookie } from '@elysiajs/cookie'

export interface CookieOptions {
  readonly name: string
  /** The first signs, all verify. */
  readonly secrets: readonly [string, ...string[]]
  /** Whether browsers come by https. */
  readonly secure: () => boolean
}

/** Signed cookies of one name. */
export interface Cookies {
  /** The value of the request's cookie, if it has just one of that name and its signature is right. */
  read(request: Request): string | undefined
  /** The values of all its cookies of that name with a right signature. */
  readAll(request: Request): readonly string[]
  /** A `Set-Cookie` header (RFC 6265 section 4.1). */
  issue(value: string, maxAgeSeconds: number): string
  /** The `Set-Cookie` header that makes a browser forget it. */
  clear(): string
}

export const createCookies = ({ name, secrets, secure }: CookieOptions): Cookies => {
  const verdicts = secrets.map(verdictOf)
  const unsign = (signed: string): string | undefined =>
    shape.test(signed) ? verdicts.map((verdict) => verdict(signed)).find((value) => value !== undefined) : undefined
  const write = (content: string, maxAgeSeconds: number) =>
    `${name}=${content}; Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax${secure() ? '; Secure' : ''}`

  const named = (request: Request): readonly string[] =>
    (request.headers.get('cookie') ?? '')
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${name}=`))
      .map((pair) => pair.slice(name.length + 1))

  return {
    read(request) {
      const [only, second] = named(request)
      // A neighbouring subdomain can set a second one, and nothing says which of two is ours.
      return only === undefined || second !== undefined ? undefined : unsign(only)
    },
    readAll: (request) =>
      named(request)
        .map(unsign)
        .filter((value) => value !== undefined),
    issue: (value, maxAgeSeconds) => write(sign(value, secrets[0]), maxAgeSeconds),
    clear: () => write('', 0),
  }
}

/** A value of ours is base64url, its signature a SHA-256 in base64: no other text is worth computing anything for. */
const shape = /^[\w-]{1,256}\.[A-Za-z0-9+/]{43}$/

/** In the format that the verdict below understands. */
const sign = (value: string, secret: string): string =>
  `${value}.${createHmac('sha256', secret).update(value).digest('base64').replace(/=+$/, '')}`

/**
 * The plugin's `unsignCookie`: the value, or undefined, never an exception, and compared in constant time. Its declared type has the wrong shape, and it
 * knows one secret, so there is one for each.
 */
const verdictOf = (secret: string) => {
  const { unsignCookie } = cookie({ secret }).decorator as unknown as {
    unsignCookie(signed: string): { readonly valid: boolean; readonly value?: string }
  }
  return (signed: string): string | undefined => {
    const { valid, value } = unsignCookie(signed)
    return valid ? value : undefined
  }
}
