import { Elysia } from 'elysia'
import { type Identify, requireIdentity } from '../shared/identify.ts'
import { identity } from '../shared/identity.ts'
import { Problem } from '../shared/problem.ts'
import { Freshness, Remembered } from '../shared/remembered.ts'
import type { TokenOwner, TokenStore } from './store.ts'
import { bearerToken, hashToken } from './token.ts'

export type { Identify, Identity } from '../shared/identify.ts'
export { Freshness } from '../shared/remembered.ts'
export { type ConsoleTokenStore, type ConsoleTokensOptions, consoleTokens, type KeptToken } from './console-tokens.ts'
export type { TokenOwner, TokenStore } from './store.ts'
export { createToken, hashToken } from './token.ts'

export interface ApiTokenOptions {
  readonly store: TokenStore
  /** When remembered answers are used. Default: checked against the store's revision twice a second. */
  readonly freshness?: Freshness
  /** Milliseconds since 1970. Default the system's clock. */
  readonly now?: () => number
}

/**
 * Identifies callers by `Authorization: Bearer sk-…`. Known tokens cost no question to the store; a revoked one stops working within a second.
 *
 * The result throws Problem 500 when the store cannot be asked.
 */
export const identifyByToken = ({ store, now = Date.now, ...options }: ApiTokenOptions): Identify => {
  const owners = new Remembered<TokenOwner>(options.freshness ?? new Freshness(() => store.revision()))
  return async (request) => {
    const token = bearerToken(request.headers.get('authorization'))
    if (token === undefined) return undefined
    const hash = hashToken(token)
    const owner = await owners
      .get(hash, () => store.ownerOf(hash))
      .catch((cause: unknown) => {
        throw new Problem(500, 'token could not be checked', { cause })
      })
    return owner && (owner.expiresAt === undefined || now() < owner.expiresAt) ? owner : undefined
  }
}

/** Macro `token: true`: the route needs a valid token and gets `identity`, else 401. */
export const apiToken = (options: ApiTokenOptions) => {
  const identify = identifyByToken(options)
  return new Elysia({ name: 'sluice/api-token', seed: identity(options) }).macro({
    token: (_required: true) => ({
      resolve: async ({ request }) => ({ identity: await requireIdentity(identify, request) }),
    }),
  })
}
