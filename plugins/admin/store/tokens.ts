import type { Scope } from '../../shared/identity/scopes.ts'
import type { ChangeConditions } from './conditions.ts'
import type { PageOf, PageRequest } from './pages.ts'

/** A token, as operators see it. */
export interface AdminToken {
  readonly id: string
  /** Id of its user. */
  readonly user: string
  readonly userName: string
  /** The first characters of the token. */
  readonly start: string
  readonly label?: string
  readonly scopes: readonly Scope[]
  /** The models that it may use; `*` at the end of one stands for any rest. Undefined: all. */
  readonly models?: readonly string[]
  /** A list of limits as JSON text. Undefined: none. */
  readonly limits?: string
  readonly createdAt: number
  /** Undefined: it does not expire. */
  readonly expiresAt?: number
  readonly revokedAt?: number
  /** A minute late at most. Undefined: not used yet. */
  readonly lastUsedAt?: number
  /** Until when the secret before the last rotation works too. Undefined: there is none, or it has ended. */
  readonly oldUntil?: number
}

/** Which tokens to list. Undefined members do not filter. */
export interface TokenFilter {
  /** Part of the label, or the beginning of `start`, in any case. */
  readonly search?: string | undefined
  /** Id of a user. */
  readonly user?: string | undefined
  /** A revoked token counts as `revoked`, also after its end. */
  readonly state?: TokenState | undefined
  /** Used at this time or later. */
  readonly usedSince?: number | undefined
  /** Not used at this time or later: also those that were never used. */
  readonly unusedSince?: number | undefined
  /** The present time, for `state`. */
  readonly now: number
}

export type TokenState = 'valid' | 'expired' | 'revoked'

/** A token to be added. */
export interface NewAdminToken {
  /** Default: a new one. */
  readonly id?: string | undefined
  /** Hex SHA-256 of the complete token. */
  readonly hash: string
  readonly start: string
  readonly label?: string | undefined
  readonly scopes: readonly Scope[]
  readonly models?: readonly string[] | undefined
  readonly limits?: string | undefined
  readonly createdAt: number
  readonly expiresAt?: number | undefined
}

/** What of a token to change. Undefined members do not change; null takes the value away. */
export interface TokenChange {
  readonly label?: string | null | undefined
  readonly expiresAt?: number | null | undefined
  readonly scopes?: readonly Scope[] | undefined
  readonly models?: readonly string[] | null | undefined
  readonly limits?: string | null | undefined
}

/** A new secret for a token. */
export interface TokenRotation {
  /** Hex SHA-256 of the new secret. */
  readonly hash: string
  readonly start: string
  readonly now: number
  /** Until when the secret before works too. Not after `now`: it ends at once. A secret before that one ends. */
  readonly oldUntil: number
}

/** The part of `AdminStore` about the tokens of all users. */
export interface AdminTokenStore {
  /**
   * Lists the tokens of all users, oldest first, also revoked and expired ones of the last 30 days. A page costs the
   * same with any number of tokens, so it may have fewer items than `limit`, or none, although there are more: then it
   * has a `next`.
   */
  listAdminTokens(filter: TokenFilter, page: PageRequest): Promise<PageOf<AdminToken>>
  /** Lists the tokens of a user, oldest first, also revoked and expired ones of the last 30 days. */
  listUserTokens(user: string, page: PageRequest): Promise<PageOf<AdminToken>>
  adminToken(id: string): Promise<AdminToken | undefined>
  /** Returns the new token. `too-many`: the user has 10,000 valid ones. */
  addUserToken(
    user: string,
    token: NewAdminToken,
    conditions?: ChangeConditions,
  ): Promise<AdminToken | 'unknown' | 'other-role' | 'too-many'>
  /**
   * Changes a token that is not revoked.
   *
   * @param options.ifScopes the token must have none but these scopes (`other-scopes`), for callers who may not touch
   * others. Default: any scopes
   */
  changeToken(id: string, change: TokenChange, conditions?: TokenConditions): Promise<TokenOutcome>
  /** Gives a token that is not revoked a new secret. Its id stays. */
  rotateToken(id: string, rotation: TokenRotation, conditions?: TokenConditions): Promise<TokenOutcome>
  /** Revokes a token. `unknown` also when it was revoked before. */
  revokeUserToken(id: string, now: number, conditions?: TokenConditions): Promise<TokenOutcome>
}

/** Conditions of a change of a token. They hold in the transaction of the change. */
export interface TokenConditions extends ChangeConditions {
  /** The token must have none but these scopes (`other-scopes`). Default: any scopes. */
  readonly ifScopes?: readonly Scope[] | undefined
}

/** What became of a change of a token. Nothing changes with any other word than `changed`. */
export type TokenOutcome = 'changed' | 'unknown' | 'other-role' | 'other-scopes'
