/**
 * The store port of `admin`: users, teams, and the tokens of all users. Every method rejects when the store does not
 * respond within its own deadline. Times are milliseconds since 1970.
 *
 * Each change is one transaction, and takes effect in every process within a second: it raises the revision.
 */
import type { Role, Scope } from '../shared/identity/scopes.ts'

/** A user, as operators see it. */
export interface AdminUser {
  readonly id: string
  readonly name: string
  readonly role: Role
  /** Id of the team. Undefined: in no team. */
  readonly team?: string
  readonly teamName?: string
  /** Has tokens and no login. */
  readonly service: boolean
  /** Id of the user in a directory of the operator. */
  readonly externalId?: string
  readonly createdAt: number
  readonly disabledAt?: number
  /** The last request with a token or a session, a minute late at most. Undefined: none yet. */
  readonly lastActiveAt?: number
  /** How the user logs in: with a password (also when an identity provider is known), by OIDC, or not at all. */
  readonly login: 'password' | 'oidc' | 'none'
  /** A list of limits as JSON text. Undefined: the limits of every user without a list. */
  readonly limits?: string
}

/** Which users to list. Undefined members do not filter. */
export interface UserFilter {
  /** Part of the name, in any case. */
  readonly search?: string | undefined
  readonly role?: Role | undefined
  /** Id of a team. */
  readonly team?: string | undefined
  readonly state?: 'enabled' | 'disabled' | undefined
}

/**
 * The place of an item in the order of its list: the time or text by which the list is ordered, and the id. A place of
 * another list gives an empty or another page, never an error.
 */
export interface PagePlace {
  readonly key: number | string
  readonly id: string
}

/** A page of a list. It costs the same wherever it begins. */
export interface PageRequest {
  /** Maximum number of items. At least 1. */
  readonly limit: number
  /** The `next` of the page before. Undefined: the first page. */
  readonly after?: PagePlace | undefined
}

/** The items of a page. */
export interface PageOf<Item> {
  readonly items: readonly Item[]
  /** The place of the last item. Undefined: this is the last page. */
  readonly next?: PagePlace
}

/** A link with which its holder sets the password of a user. */
export interface NewInvitation {
  /** Hex SHA-256 of the secret in the link. */
  readonly hash: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** A user to be added. */
export interface NewAdminUser {
  /** Unique without regard to case. */
  readonly name: string
  /** Hash of the password. */
  readonly password?: string | undefined
  /** Default `user`. */
  readonly role?: Role | undefined
  /** Id of a team. */
  readonly team?: string | undefined
  /** Default false. A service user has neither password nor invitation. */
  readonly service?: boolean | undefined
  /** Unique. */
  readonly externalId?: string | undefined
  readonly limits?: string | undefined
  readonly invitation?: NewInvitation | undefined
  readonly createdAt: number
}

/**
 * Why a user was not added: the name or the external id belongs to another user, there is no such team, or a service
 * user was to get a password or an invitation.
 */
export type AddUserFailure = 'name-taken' | 'external-id-taken' | 'unknown-team' | 'service'

/** What of a user to change. Undefined members do not change; null takes the value away. */
export interface UserChange {
  readonly name?: string | undefined
  readonly role?: Role | undefined
  /** Id of a team. */
  readonly team?: string | null | undefined
  /** True ends the sessions and the invitation of the user. An earlier time of disabling stays. */
  readonly disabled?: boolean | undefined
  /** Hash of the password. Ends the user's sessions and invitation. */
  readonly password?: string | undefined
  readonly externalId?: string | null | undefined
  /** A list of limits as JSON text. */
  readonly limits?: string | null | undefined
}

/** Conditions of a change of a user or of the user's tokens. They hold in the transaction of the change. */
export interface ChangeConditions {
  /** The user must have this role (`other-role`). For callers who may not touch admins. Default: any role. */
  readonly ifRole?: Role | undefined
}

/**
 * What became of a change. Nothing changes with any other word than `changed`.
 *
 * - `unknown`: there is no such user
 * - `last-admin`: the last enabled admin would be disabled or demoted
 * - `service`: a service user has no password and no invitation
 * - `other-role`: see `ifRole`
 */
export type ChangeUserOutcome =
  | 'changed'
  | 'unknown'
  | 'name-taken'
  | 'external-id-taken'
  | 'unknown-team'
  | 'last-admin'
  | 'service'
  | 'other-role'

/** A team: a name for shared limits and for reports. */
export interface Team {
  readonly id: string
  readonly name: string
  /** A list of limits as JSON text. Undefined: none. */
  readonly limits?: string
  /** Number of its users. */
  readonly members: number
  readonly createdAt: number
}

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

/** Stores users, teams and tokens for operators. */
export interface AdminStore {
  /**
   * Lists users, oldest first. With a `search` of at least three characters the order is another one, but the same on
   * every page. A page costs the same with 100,000 users.
   */
  listAdminUsers(filter: UserFilter, page: PageRequest): Promise<PageOf<AdminUser>>
  adminUser(id: string): Promise<AdminUser | undefined>
  /** The user of that name, without regard to case. A user of exactly that name comes first. */
  adminUserByName(name: string): Promise<AdminUser | undefined>
  /** Returns the new user. */
  addAdminUser(user: NewAdminUser): Promise<AdminUser | AddUserFailure>
  /**
   * Changes a user.
   *
   * @param options.keepLastAdmin whether the last enabled admin must stay enabled and admin. It holds for concurrent
   * changes. Default false
   */
  changeUser(
    id: string,
    change: UserChange,
    options: ChangeConditions & { readonly now: number; readonly keepLastAdmin?: boolean | undefined },
  ): Promise<ChangeUserOutcome>
  /** Ends all sessions of a user, by id. */
  endSessions(user: string): Promise<void>
  /**
   * Stores the link of an invitation; one before ends. `disabled`: a disabled user gets none. The password and the
   * sessions stay until the holder sets a password.
   */
  addInvitation(
    user: string,
    invitation: NewInvitation,
    conditions?: ChangeConditions,
  ): Promise<'added' | 'unknown' | 'service' | 'disabled' | 'other-role'>

  /** Lists teams, oldest first. */
  listTeams(page: PageRequest): Promise<PageOf<Team>>
  team(id: string): Promise<Team | undefined>
  /** The team of that name, without regard to case. */
  teamByName(name: string): Promise<Team | undefined>
  addTeam(
    team: Pick<Team, 'name' | 'createdAt'> & { readonly limits?: string | undefined },
  ): Promise<Team | 'name-taken'>
  changeTeam(
    id: string,
    change: { readonly name?: string | undefined; readonly limits?: string | null | undefined },
  ): Promise<'changed' | 'unknown' | 'name-taken'>
  /** Deletes a team that has no users. */
  deleteTeam(id: string): Promise<'deleted' | 'unknown' | 'not-empty'>

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
