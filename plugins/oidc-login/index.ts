import { type AnyElysia, Elysia } from 'elysia'
import { noAudit } from '../shared/audit.ts'
import { systemClock } from '../shared/clock.ts'
import { createErrorHandler, routesOf } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { publicBase } from '../shared/http/origin.ts'
import {
  checkAbove0,
  checkCollaborator,
  checkCookieName,
  checkElysia,
  checkKey,
  checkPath,
  checkPublicUrl,
  checkSecrets,
} from '../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { noLog } from '../shared/problem.ts'
import { fetchOnce } from '../shared/upstream/fetch.ts'
import { claimsRead, isClaimRules } from './claims.ts'
import { createOidcFlow } from './flow.ts'
import { type OidcRoutes, oidcDocs } from './openapi.ts'
import { claimRulesForm, isIssuer, isScopes, issuerForm, type OidcLoginOptions, scopesForm } from './options.ts'
import { createPendingLogins } from './pending-logins.ts'
import { createOidcProvider } from './provider/provider.ts'

export type { Audit, AuditEvent } from '../shared/audit.ts'
export type { ErrorsOption } from '../shared/http/error-handler.ts'
export type { PublicUrl } from '../shared/http/origin.ts'
export type { ClaimRules, ClaimValue } from './claims.ts'
export type { OidcRoutes } from './openapi.ts'
export type { OidcLoginOptions } from './options.ts'
export type { AcceptedLogin, OidcLogin, OidcUser, OidcUserStore, RejectedLogin } from './store.ts'

/**
 * Login at an identity provider with OpenID Connect: the authorization code flow with PKCE (OpenID Connect Core 1.0
 * section 3.1, RFC 7636).
 *
 * - GET of the prefix redirects the browser to the provider. `?return_to=/path` is where the person continues
 *   afterwards, `?invitation=` the secret of an invitation that the login accepts.
 * - GET of `/callback` below it begins a session of the user with that issuer and subject, and redirects there.
 *
 * Errors are pages without scripts, in English or Chinese; programs get JSON. Throws TypeError for wrong options.
 *
 * @example
 * const client = { issuer: 'https://id.example', clientId: 'app', clientSecret: 'the secret of the client' }
 * const session = { store, secrets, publicUrl }
 * new Elysia().use(oidcLogin({ ...client, ...session, beginSession: beginSession(session) }))
 */
export const oidcLogin = <const Prefix extends string = '/api/session/oidc'>(
  options: OidcLoginOptions & { readonly prefix?: Prefix },
): RoutesPlugin<RoutesAt<Prefix, OidcRoutes>> => {
  checkElysia(Elysia)
  const prefix = checkPath('prefix', options.prefix ?? '/api/session/oidc')
  const returnTo = checkPath('returnTo', options.returnTo ?? '/console')
  checkOptions(options)
  const { publicUrl, secrets, allowed, admin, nameClaim } = options
  const { scopes = 'openid profile email', maxLoginMs = 600_000, timeoutMs = 10_000 } = options
  const { clock = systemClock, log = noLog, audit = noAudit, fetch = fetchOnce } = options
  const isSecure = typeof publicUrl === 'string' && new URL(publicUrl).protocol === 'https:'
  const cookieName = options.cookieName ?? (isSecure ? '__Host-oidc' : 'oidc')
  const { issuer, clientId, clientSecret, store, beginSession, addressOf } = options
  const flow = createOidcFlow({
    provider: createOidcProvider({
      ...{ issuer, clientId, clientSecret, scopes, fetch, timeoutMs, clock, log },
      redirectUri: () => `${publicBase(publicUrl)}${prefix}/callback`,
      claimNames: claimsRead(nameClaim, allowed, admin),
    }),
    pending: createPendingLogins({ secrets, publicUrl, cookieName, maxAgeMs: maxLoginMs, clock }),
    ...{ store, beginSession, publicUrl, prefix, returnTo, nameClaim, allowed, admin, addressOf, clock, log, audit },
  })
  const errors = createErrorHandler(options)
  const route = routesOf(errors)
  const plugin: AnyElysia = new Elysia({ name: 'sluice/oidc-login', seed: seedOf(options), prefix })
    .get('', route(flow.start), oidcDocs.start)
    .get('/callback', route(flow.finish), oidcDocs.callback)
    .use(fallbackRoutes(errors))
  return plugin
}

const checkOptions = (options: OidcLoginOptions): void => {
  const { issuer, scopes, allowed, admin, maxLoginMs, timeoutMs, beginSession, cookieName = 'oidc' } = options
  if (!isIssuer(issuer)) throw new TypeError(`issuer ${issuerForm}`)
  checkKey('clientId', options.clientId)
  checkKey('clientSecret', options.clientSecret)
  if (scopes !== undefined && !isScopes(scopes)) throw new TypeError(`scopes ${scopesForm}`)
  checkCollaborator('store', options.store)
  if (typeof beginSession !== 'function') throw new TypeError('beginSession must be a function')
  checkSecrets(options.secrets)
  checkPublicUrl(options.publicUrl)
  for (const [name, rules] of Object.entries({ allowed, admin }))
    if (rules !== undefined && !isClaimRules(rules)) throw new TypeError(`${name} ${claimRulesForm}`)
  checkAbove0({ maxLoginMs, timeoutMs })
  checkCookieName(cookieName)
}
