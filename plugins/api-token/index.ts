import { type AnyElysia, Elysia } from 'elysia'
import { type Audit, noAudit } from '../shared/audit.ts'
import { andThen } from '../shared/awaitable.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { createErrorHandler, type ErrorsOption, routesOf } from '../shared/http/error-handler.ts'
import { fallbackRoutes } from '../shared/http/fallback-routes.ts'
import { useNotedEveryMs } from '../shared/identity/credential-use.ts'
import { type Identify, type Identity, requireIdentity } from '../shared/identity/identify.ts'
import { RevisionCache } from '../shared/identity/revision-cache.ts'
import { RevisionClock } from '../shared/identity/revision-clock.ts'
import { RevocationWatch } from '../shared/identity/revocation.ts'
import { checkCollaborator, checkElysia, checkIdentify, checkPath, checkPublicUrl } from '../shared/plugin/options.ts'
import type { MacroFunctions, MacroPlugin, RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { type Log, Problem } from '../shared/problem.ts'
import { type ConsoleTokensOptions, createConsoleTokens } from './console-tokens.ts'
import { grantText, stillGrants } from './grant.ts'
import { type TokenRoutes, tokenDocs } from './openapi.ts'
import type { TokenStore } from './store.ts'
import { hashToken, tokenOf } from './token.ts'

export type { Audit, AuditEvent } from '../shared/audit.ts'
export type { ErrorsOption } from '../shared/http/error-handler.ts'
export type { Identify, Identity } from '../shared/identity/identify.ts'
export { type RouteFamily, requireScope } from '../shared/identity/require-scope.ts'
export { RevisionClock } from '../shared/identity/revision-clock.ts'
export type { Role, Scope } from '../shared/identity/scopes.ts'
export type { ConsoleTokenStore, ConsoleTokensOptions, StoredToken } from './console-tokens.ts'
export type { CreatedToken, TokenInfo, TokenList, TokenRequest, TokenRoutes } from './openapi.ts'
export type { TokenOwner, TokenStore } from './store.ts'
export { createToken, hashToken, tokenStart } from './token.ts'

/** Options of `identifyByToken`. */
export interface ApiTokenOptions {
  readonly store: TokenStore
  /** Decides whether cached owners are fresh. Default: checks the store's revision at most twice per second. */
  readonly revisionClock?: RevisionClock
  /**
   * Decides whether a token has expired, and sets the timers of the checks that end the streams of revoked tokens.
   * Default: the system clock.
   */
  readonly clock?: Clock
  /** Receives an event for each use of an expired token. Default: none. */
  readonly audit?: Audit
}

/**
 * Creates a function that authenticates callers by `Authorization: Bearer sk-…`, or without this header, by `x-api-key:
 * sk-…` or `api-key: sk-…`. It throws Problem 500 if the store is unavailable. Throws TypeError without a store.
 *
 * A cached token needs no query, and an unknown one at most one query per second. A revoked token stops working within
 * a second, and its streams end.
 *
 * @example
 * const identify = identifyByToken({ store })
 */
export const identifyByToken = ({
  store,
  clock = systemClock,
  audit = noAudit,
  ...options
}: ApiTokenOptions): Identify => {
  checkCollaborator('store', store)
  const revisionClock = options.revisionClock ?? new RevisionClock((since) => store.revision(since))
  const owners = new RevisionCache<CachedOwner>(revisionClock, { kind: 'token', negativeTtlMs: unknownTokenTtlMs })
  const find = (hash: string) =>
    owners.get(hash, async () => {
      const owner = await store.ownerOf(hash)
      if (!owner) return undefined
      const { expiresAt, ...identity } = owner
      const watched = `${hash}\n${grantText(identity)}`
      return { ...identity, whenRevoked, [watchedAs]: watched, [expiresAtKey]: expiresAt, [notedAtKey]: 0 }
    })
  const isValid = (owner: CachedOwner | undefined): owner is CachedOwner =>
    owner !== undefined && (owner[expiresAtKey] === undefined || clock.now() < owner[expiresAtKey])
  const watch = new RevocationWatch({
    refresh: () => revisionClock.check(),
    holds: (key) => {
      const [hash = '', grant = ''] = key.split('\n', 2)
      return andThen(find(hash), (owner) => isValid(owner) && stillGrants(owner, grant))
    },
    clock,
  })
  // One function for all owners: a closure for each of them would take more memory.
  function whenRevoked(this: CachedOwner, end: () => void): () => void {
    return watch.add(this[watchedAs], end)
  }
  revisionClock.onChange(() => void watch.check())
  const noteUse = (owner: CachedOwner): void => {
    const at = clock.now()
    if (at - owner[notedAtKey] < useNotedEveryMs) return
    owner[notedAtKey] = at
    store.noteUse?.({ user: owner.user, token: owner.token, at })
  }
  return (request) => {
    const token = tokenOf(request.headers)
    if (token === undefined) return undefined
    const admit = (owner: CachedOwner | undefined): Identity | undefined => {
      if (owner === undefined) return undefined
      if (isValid(owner)) {
        if (store.noteUse) noteUse(owner)
        return owner
      }
      const { user, token: id } = owner
      audit.note({ action: 'token.expire', user, token: id, target: { kind: 'token', id } }, request)
      return undefined
    }
    return andThen(find(hashToken(token)), admit, throwUnavailable)
  }
}

/** Minimum time in milliseconds between two queries for the same unknown token. */
const unknownTokenTtlMs = 1_000

const throwUnavailable = (cause: unknown): never => {
  throw new Problem(500, 'token could not be checked', { cause })
}

const watchedAs = Symbol('watched as')
const expiresAtKey = Symbol('expiresAt')
const notedAtKey = Symbol('notedAt')

/** A cached token owner: a plain object, so that a handler may return it as JSON, which leaves out symbols. */
interface CachedOwner extends Identity {
  readonly token: string
  /** Key of the watch: the hash, and what the token may do. Composed once, because each call begins a watch. */
  readonly [watchedAs]: string
  readonly [expiresAtKey]: number | undefined
  /** When the use was noted last. */
  [notedAtKey]: number
}

/** The macro of `apiToken`: its parameter, and what it adds to the context. */
export type ApiTokenMacros = {
  token: { parameter: true; context: { identity: Identity } }
}

/** Options of `apiToken`. */
export interface ApiTokenGuardOptions extends ApiTokenOptions {
  /** The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `problemBody()`. */
  readonly errors?: ErrorsOption
  readonly log?: Log
}

/**
 * An Elysia plugin with the macro `token: true`: the route requires a valid token, and has `identity` in its context.
 *
 * Other requests get 401, whatever `onError` hooks the app has. Throws TypeError without a store.
 *
 * @example
 * new Elysia().use(apiToken({ store })).get('/me', ({ identity }) => identity.user, { token: true })
 */
export const apiToken = (options: ApiTokenGuardOptions): MacroPlugin<ApiTokenMacros> => {
  checkElysia(Elysia)
  const identify = identifyByToken(options)
  const { stop } = createErrorHandler(options)
  const plugin: AnyElysia = new Elysia({ name: 'sluice/api-token', seed: seedOf(options) }).macro({
    token: (_required: true) => ({
      resolve: async ({ request, set, status }) => {
        try {
          return { identity: await requireIdentity(identify, request) }
        } catch (error) {
          return stop(error, { request, set, status })
        }
      },
    }),
  } satisfies MacroFunctions<ApiTokenMacros>)
  return plugin
}

/**
 * Routes by which users list, create and revoke their tokens.
 *
 * - GET of the prefix returns the valid tokens, oldest first:
 *   `{"success":true,"tokens":[{"id","label","start","created_at","expires_at"}]}`.
 * - POST accepts `{"label"?,"expires_at"?}` and returns `{"success":true,"token":{…,"token"}}`, the only response with
 *   the secret. It returns 409 above `maxTokens`, and 429 after too many new tokens within a day.
 * - DELETE of `/:id` returns `{"success":true}`, and the same 404 for an unknown id and for a token of another user.
 *
 * Times are ISO 8601; `expires_at` is null if the token does not expire. Throws TypeError for a wrong `prefix`,
 * `store`, `identify`, `publicUrl` or `maxTokens`.
 *
 * @example
 * new Elysia().use(consoleTokens({ store, identify: identifyBySession({ store, secrets, publicUrl }), publicUrl }))
 */
export const consoleTokens = <const Prefix extends string = '/api/tokens'>(
  options: ConsoleTokensOptions & { readonly prefix?: Prefix },
): RoutesPlugin<RoutesAt<Prefix, TokenRoutes>> => {
  const prefix = checkPath('prefix', options.prefix ?? '/api/tokens')
  checkCollaborator('store', options.store)
  checkIdentify(options.identify)
  checkPublicUrl(options.publicUrl)
  const { list, create, revoke, rotate } = createConsoleTokens(options)
  const errors = createErrorHandler(options)
  const route = routesOf(errors)
  const plugin = new Elysia({ name: 'sluice/console-tokens', seed: seedOf(options), prefix })
    .get('', route(list), tokenDocs.list)
    .post('', route(create), tokenDocs.create)
    .delete('/:id', route(revoke, 'id'), tokenDocs.revoke)
  if (rotate) plugin.post('/:id/rotate', route(rotate, 'id'), tokenDocs.rotate)
  return plugin.use(fallbackRoutes(errors)) as AnyElysia
}
