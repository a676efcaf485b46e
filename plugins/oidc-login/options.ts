import type { Audit } from '../shared/audit.ts'
import type { Clock } from '../shared/clock.ts'
import type { ErrorsOption } from '../shared/http/error-handler.ts'
import type { PublicUrl } from '../shared/http/origin.ts'
import type { Log } from '../shared/problem.ts'
import type { Fetch } from '../shared/upstream/upstream-error.ts'
import type { ClaimRules } from './claims.ts'
import { isConfidential } from './provider/bounded-fetch.ts'
import type { OidcUser, OidcUserStore } from './store.ts'

/** Options of `oidcLogin`. */
export interface OidcLoginOptions {
  /**
   * The identity provider: the address before `/.well-known/openid-configuration`, exactly as the provider writes it.
   * It must be https, except on loopback. It is asked at the first login, not at the start.
   */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** Scopes separated by spaces, with `openid`. Default `openid profile email`. */
  readonly scopes?: string
  readonly store: OidcUserStore
  /**
   * Begins a session of the user. Returns its `Set-Cookie` header; undefined when the user may no longer log in. May
   * throw a Problem. `beginSession` of `sluice/web-session` creates such a function.
   */
  readonly beginSession: (request: Request, user: OidcUser) => Promise<string | undefined>
  /**
   * Secrets of at least 16 characters for the cookie that binds a login to its browser: the first signs, every one
   * verifies. All processes need the same ones.
   */
  readonly secrets: readonly string[]
  /** The address that browsers use. The client's redirect URI at the provider is this, `prefix` and `/callback`. */
  readonly publicUrl: PublicUrl
  /** Base path of the routes. Default `/api/session/oidc`. */
  readonly prefix?: string
  /** Path, relative to `publicUrl`, at which a person continues who has asked for no other. Default `/console`. */
  readonly returnTo?: string
  /** The claim with the name of a new user. Default: `preferred_username`, else `email`. */
  readonly nameClaim?: string
  /** Who may log in. Default: everybody whom the provider logs in. */
  readonly allowed?: ClaimRules
  /** Who is admin, at each login. All others are not. Default: roles do not follow claims. */
  readonly admin?: ClaimRules
  /** How long a login at the provider may take. Milliseconds, default 10 minutes. */
  readonly maxLoginMs?: number
  /** Deadline of the requests to the provider in one step of a login. Milliseconds, default 10 seconds. */
  readonly timeoutMs?: number
  /**
   * Name of the cookie. Default `oidc`, and `__Host-oidc` where `publicUrl` is an https address. Two instances on one
   * host need different names.
   */
  readonly cookieName?: string
  /**
   * The client address of a request: networks take turns when many logins end at once. Must not trust a header that
   * callers can set. Default: no turns.
   */
  readonly addressOf?: (request: Request) => string | undefined
  /** Default: `fetch` of the runtime. */
  readonly fetch?: Fetch
  /**
   * The JSON body of errors for programs; `throw`: errors go to the `onError` of the host app. Default:
   * `problemBody()`.
   */
  readonly errors?: ErrorsOption
  /** Default: the system clock. */
  readonly clock?: Pick<Clock, 'now'>
  /** Receives the causes of failed logins. */
  readonly log?: Log
  /** Receives an event for every login, failed login and new user. Default: no audit. */
  readonly audit?: Audit
}

/** What `isIssuer` requires. */
export const issuerForm =
  'must be an https URL (on loopback also http) without credentials, query or fragment, as the provider writes it'

/** Whether a value can be the address of an identity provider (OpenID Connect Discovery 1.0 section 3). */
export const isIssuer = (value: unknown): value is string => {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url !== null && isConfidential(url.href) && !url.username && !url.password && !/[?#\s]/.test(String(value))
}

/** What `isScopes` requires. */
export const scopesForm = 'must be scopes separated by single spaces, one of them openid'

/** Whether a value is a list of scopes (RFC 6749 section 3.3) that asks for an ID token. */
export const isScopes = (value: unknown): value is string =>
  typeof value === 'string' &&
  /^[!#-[\]-~]+(?: [!#-[\]-~]+)*$/.test(value) &&
  value.length <= 1_024 &&
  value.split(' ').includes('openid')

/** What `isClaimRules` requires. */
export const claimRulesForm =
  'must be an object with a list of permitted values for each claim, such as {"groups":["media"]}'
