import { Elysia } from 'elysia'
import { type Audit, noAudit } from '../shared/audit.ts'
import { andThen } from '../shared/awaitable.ts'
import type { Clock } from '../shared/clock.ts'
import { type Identify, type Identity, requireIdentity } from '../shared/identify.ts'
import { Problem } from '../shared/problem.ts'
import { RevisionCache, RevisionClock } from '../shared/revision-cache.ts'
import { RevocationWatch } from '../shared/revocation.ts'
import { seedOf } from '../shared/seed.ts'
import type { TokenOwner, TokenStore } from './store.ts'
import { bearerToken, hashToken } from './token.ts'

export type { Audit, AuditEvent } from '../shared/audit.ts'
export type { Identify, Identity } from '../shared/identify.ts'
export { RevisionClock } from '../shared/revision-cache.ts'
export { type ConsoleTokenStore, type ConsoleTokensOptions, consoleTokens, type KeptToken } from './console-tokens.ts'
export type { TokenOwner, TokenStore } from './store.ts'
export { createToken, hashToken } from './token.ts'

export interface ApiTokenOptions {
  readonly store: TokenStore
  /** When remembered answers are used. Default: checked against the store's revision twice a second. */
  readonly revisionClock?: RevisionClock
  /** Milliseconds since 1970. Default the system's clock. */
  readonly now?: () => number
  /** When streams are looked after whose token may have been revoked. Default the system's. */
  readonly clock?: Clock
  /** Told of the use of a token whose time is over. Default: nobody is. */
  readonly audit?: Audit
}

/**
 * Identifies callers by `Authorization: Bearer sk-…`. Known tokens cost no question to the store, and unknown ones one a second; a revoked one stops working within a second, and so do the
 * streams that it was given.
 *
 * The result throws Problem 500 when the store cannot be asked.
 */
export const identifyByToken = ({ store, now = Date.now, audit = noAudit, ...options }: ApiTokenOptions): Identify => {
  const revisionClock = options.revisionClock ?? new RevisionClock((since) => store.revision(since))
  const owners = new RevisionCache<TokenIdentity>(revisionClock, { kind: 'token', absentMs: refusedMs })
  const find = (hash: string) =>
    owners.get(hash, async () => {
      const owner = await store.ownerOf(hash)
      return owner && new TokenIdentity(owner, hash, watch)
    })
  const working = (owner: TokenIdentity | undefined): owner is TokenIdentity =>
    owner !== undefined && (owner.expiresAt === undefined || now() < owner.expiresAt)
  const watch = new RevocationWatch({
    refresh: () => revisionClock.check(),
    holds: (hash) => andThen(find(hash), working),
    clock: options.clock,
  })
  revisionClock.onChange(() => void watch.look())
  return (request) => {
    const token = bearerToken(request.headers.get('authorization'))
    if (token === undefined) return undefined
    const admit = (owner: TokenIdentity | undefined): Identity | undefined => {
      if (owner === undefined || working(owner)) return owner
      const { user, token: id } = owner
      audit.note({ action: 'token.expire', user, token: id, target: { kind: 'token', id } }, request)
      return undefined
    }
    return andThen(find(hashToken(token)), admit, notChecked)
  }
}

/** An unknown token is asked for once in this time, however often it comes. */
const refusedMs = 1_000

const notChecked = (cause: unknown): never => {
  throw new Problem(500, 'token could not be checked', { cause })
}

/** A token's owner as it is remembered, many at once: hence no closure for each. */
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

/** Macro `token: true`: the route needs a valid token and gets `identity`, else 401. */
export const apiToken = (options: ApiTokenOptions) => {
  const identify = identifyByToken(options)
  return new Elysia({ name: 'sluice/api-token', seed: seedOf(options) }).macro({
    token: (_required: true) => ({
      resolve: async ({ request }) => ({ identity: await requireIdentity(identify, request) }),
    }),
  })
}
