import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../shared/clock.ts'
import { type PublicUrl, readPublicUrl } from '../shared/http/origin.ts'
import { areSecretsEqual } from '../shared/identity/equal-secrets.ts'
import { createCookies } from '../shared/login/cookie.ts'

/** A login that a browser has started, and that the provider has not answered yet. */
export interface PendingLogin {
  /** Returned by the provider with the answer (RFC 6749 section 10.12). */
  readonly state: string
  /** In the ID token (OpenID Connect Core 1.0 section 3.1.2.1). */
  readonly nonce: string
  /** The code verifier (RFC 7636 section 4.1). */
  readonly verifier: string
  /** Where the person continues. Undefined: at the default. */
  readonly returnPath: string | undefined
  /** The secret of an invitation that the person has opened. */
  readonly invitation: string | undefined
}

/** What the browser asks for when it starts a login. */
export type LoginStart = Pick<PendingLogin, 'returnPath' | 'invitation'>

/** The pending logins of browsers. A signed cookie holds them, so that only the browser that started one ends it. */
export interface PendingLogins {
  /** Starts a login. Returns it with the `Set-Cookie` header. */
  start(request: Request, start: LoginStart): { readonly login: PendingLogin; readonly cookie: string }
  /**
   * The request's pending login with that state. Undefined when the browser has not started it, or too long ago.
   *
   * The `Set-Cookie` header takes it away from the browser: a login has one answer.
   */
  end(request: Request, state: string): { readonly login: PendingLogin; readonly cookie: string } | undefined
}

export interface PendingLoginsOptions {
  readonly secrets: readonly string[]
  readonly publicUrl: PublicUrl
  readonly cookieName: string
  /** How long a login may take. Milliseconds. */
  readonly maxAgeMs: number
  readonly clock: Pick<Clock, 'now'>
}

/** Several tabs of one browser may start logins; the oldest beyond this number is forgotten. */
const maxPending = 4
/** Longest content of the cookie, as JSON. */
const maxCookieBytes = 720

/** Random id, start in milliseconds since 1970, return path, invitation. */
type Entry = readonly [id: string, startedAt: number, returnPath: string, invitation: string]

export const createPendingLogins = (options: PendingLoginsOptions): PendingLogins => {
  const { publicUrl, clock, maxAgeMs } = options
  const cookies = createCookies({
    name: options.cookieName,
    // Derived keys: a signed session value is never valid here.
    secrets: options.secrets.map(derive),
    secure: () => readPublicUrl(publicUrl).protocol === 'https:',
  })

  /** The request's entries that are not too old, newest first. */
  const entriesOf = (request: Request): readonly Entry[] => {
    const value = cookies.read(request)
    if (value === undefined) return []
    // Only this class signs values, so the content needs no further check.
    const entries: readonly Entry[] = JSON.parse(Buffer.from(value, 'base64url').toString())
    const now = clock.now()
    return entries.filter(([, startedAt]) => startedAt <= now && now - startedAt < maxAgeMs)
  }

  const cookieOf = (entries: readonly Entry[]): string => {
    const kept = entries.slice(0, maxPending)
    while (kept.length > 1 && Buffer.byteLength(JSON.stringify(kept)) > maxCookieBytes) kept.pop()
    if (kept.length === 0) return cookies.clear()
    return cookies.issue(Buffer.from(JSON.stringify(kept)).toString('base64url'), Math.ceil(maxAgeMs / 1000))
  }

  return {
    start(request, { returnPath = '', invitation = '' }) {
      const entry: Entry = [randomBytes(32).toString('base64url'), clock.now(), returnPath, invitation]
      return { login: loginOf(entry), cookie: cookieOf([entry, ...entriesOf(request)]) }
    },
    end(request, state) {
      const entries = entriesOf(request)
      const entry = entries.find(([id]) => areSecretsEqual(stateOf(id), state))
      return entry && { login: loginOf(entry), cookie: cookieOf(entries.filter((other) => other !== entry)) }
    },
  }
}

/**
 * The values of a login are hashes of one random id, so that the cookie remains small: 256 bits each, none of which
 * tells another.
 */
const loginOf = ([id, , returnPath, invitation]: Entry): PendingLogin => ({
  state: stateOf(id),
  nonce: hashOf('nonce', id),
  verifier: hashOf('code verifier', id),
  returnPath: returnPath || undefined,
  invitation: invitation || undefined,
})

const stateOf = (id: string): string => hashOf('state', id)

const hashOf = (purpose: string, id: string): string =>
  createHash('sha256').update(`${purpose}\n${id}`).digest('base64url')

const derive = (secret: string): string => createHmac('sha256', secret).update('oidc').digest('base64url')
