import { type AnyElysia, Elysia } from 'elysia'
import { type Audit, noAudit } from '../shared/audit.ts'
import { andThen } from '../shared/awaitable.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { type Identify, type Identity, requireIdentity } from '../shared/identify.ts'
import type { MacroFunctions, MacroPlugin } from '../shared/plugin.ts'
import { Problem } from '../shared/problem.ts'
import { RevisionCache, RevisionClock } from '../shared/revision-cache.ts'
import { RevocationWatch } from '../shared/revocation.ts'
import { seedOf } from '../shared/seed.ts'
import type { TokenOwner, TokenStore } from './store.ts'
import { bearerToken, hashToken } from './token.ts'

export type { Audit, AuditEvent } from '../shared/audit.ts'
export type { Identify, Identity } from '../shared/identify.ts'
export { RevisionClock } from '../shared/revision-cache.ts'
export { type ConsoleTokenStore, type ConsoleTokensOptions, consoleTokens, type StoredToken } from './console-tokens.ts'
export type { TokenOwner, TokenStore } from './store.ts'
export { createToken, hashToken } from './token.ts'

/** Options of `apiToken` and `identifyByToken`. */
export interface ApiTokenOptions {
  readonly store: TokenStore
  /** Decides whether cached owners are fresh. Default: checks the store's revision at most twice per second. */
  readonly revisionClock?: RevisionClock
  /** Decides whether a token has expired, and sets the timers of the checks that end the streams of revoked tokens. Default: the system clock. */
  readonly clock?: Clock
  /** Receives an event for each use of an expired token. Default: none. */
  readonly audit?: Audit
}

/**
 * Creates a function that authenticates callers by `Authorization: Bearer sk-…`. It throws Problem 500 if the store is unavailable.
 *
 * A cached token needs no query, and an unknown one at most one query per second. A revoked token stops working within a second, and its streams end.
 */
export const identifyByToken = ({
  store,
  clock = systemClock,
  audit = noAudit,
  ...options
}: ApiTokenOptions): Identify => {
  const revisionClock = options.revisionClock ?? new RevisionClock((since) => store.revision(since))
  const owners = new RevisionCache<TokenIdentity>(revisionClock, { kind: 'token', negativeTtlMs: unknownTokenTtlMs })
  const find = (hash: string) =>
    owners.get(hash, async () => {
      const owner = await store.ownerOf(hash)
      return owner && new TokenIdentity(owner, hash, watch)
    })
  const isValid = (owner: TokenIdentity | undefined): owner is TokenIdentity =>
    owner !== undefined && (owner.expiresAt === undefined || clock.now() < owner.expiresAt)
  const watch = new RevocationWatch({
    refresh: () => revisionClock.check(),
    holds: (hash) => andThen(find(hash), isValid),
    clock,
  })
  revisionClock.onChange(() => void watch.check())
  return (request) => {
    const token = bearerToken(request.headers.get('authorization'))
    if (token === undefined) return undefined
    const admit = (owner: TokenIdentity | undefined): Identity | undefined => {
      if (owner === undefined || isValid(owner)) return owner
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

/** A cached token owner. It is a class, because a closure for each of many owners would take more memory. */
class TokenIdentity implements TokenOwner, Identity {
  readonly user: string
  readonly token: string
  readonly expiresAt: number | undefined
  readonly #hash: string
  readonly #watch: RevocationWatch

  constructor({ user, token, expiresAt }: TokenOwner, hash: string, watch: RevocationWatch) {
    this.user = user
    this.token = token
    this.expiresAt = expiresAt
    this.#hash = hash
    this.#watch = watch
  }

  whenRevoked(end: () => void): () => void {
    return this.#watch.add(this.#hash, end)
  }
}

/** The macro of `apiToken`: its parameter, and what it adds to the context. */
export type ApiTokenMacros = {
  token: { parameter: true; context: { identity: Identity } }
}

/** An Elysia plugin with the macro `token: true`: the route requires a valid token, else 401, and has `identity` in its context. */
export const apiToken = (options: ApiTokenOptions): MacroPlugin<ApiTokenMacros> => {
  const identify = identifyByToken(options)
  const plugin: AnyElysia = new Elysia({ name: 'sluice/api-token', seed: seedOf(options) }).macro({
    token: (_required: true) => ({
      resolve: async ({ request }) => ({ identity: await requireIdentity(identify, request) }),
    }),
  } satisfies MacroFunctions<ApiTokenMacros>)
  return plugin
}
