/**
 * The store port of `admin`: users, teams, and the tokens of all users. Every method rejects when the store does not
 * respond within its own deadline. Times are milliseconds since 1970.
 *
 * Each change is one transaction, and takes effect in every process within a second: it raises the revision.
 */
import type { Role } from '../shared/identity/scopes.ts'
import type { ChangeConditions } from './store/conditions.ts'
import type { PageOf, PageRequest } from './store/pages.ts'
import type { AdminTokenStore } from './store/tokens.ts'

export type * from './store/conditions.ts'
export type * from './store/pages.ts'
export type * from './store/tokens.ts'

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

/** A link with which its holder sets the password of a user. */
export interface NewInvitation {
  /** Hex SHA-256 of the secret in the link. */
  readonly hash: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** A user to be added. */
export interface NewAdminUser {
  /** Default: a new one. */
  readonly id?: string | undefined
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

/** Stores users, teams and tokens for operators. */
export interface AdminStore extends AdminTokenStore {
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
  /** @param team.id default: a new one */
  addTeam(
    team: Pick<Team, 'name' | 'createdAt'> & { readonly id?: string | undefined; readonly limits?: string | undefined },
  ): Promise<Team | 'name-taken'>
  changeTeam(
    id: string,
    change: { readonly name?: string | undefined; readonly limits?: string | null | undefined },
  ): Promise<'changed' | 'unknown' | 'name-taken'>
  /** Deletes a team that has no users. */
  deleteTeam(id: string): Promise<'deleted' | 'unknown' | 'not-empty'>
}
