import type { Role, Scope } from '../../shared/identity/scopes.ts'
import type { Limit } from '../../usage-limits/index.ts'
import type { AdminToken, AdminUser, Team } from '../store.ts'
import { isoOrNull, isoTime } from './time.ts'

/** A user. */
export interface UserView {
  readonly id: string
  readonly name: string
  readonly role: Role
  /** Id of the team. */
  readonly team: string | null
  readonly team_name: string | null
  /** Whether the user has tokens and no login. */
  readonly service: boolean
  readonly external_id: string | null
  readonly created_at: string
  readonly disabled_at: string | null
  /** A minute late at most. */
  readonly last_active_at: string | null
  readonly login: 'password' | 'oidc' | 'none'
  /** Null: the limits of every user without a list. Empty: no limits. */
  readonly limits: readonly Limit[] | null
}

/** A team. */
export interface TeamView {
  readonly id: string
  readonly name: string
  readonly limits: readonly Limit[] | null
  /** Number of its users. */
  readonly members: number
  readonly created_at: string
}

/** A token, without its secret. */
export interface TokenView {
  readonly id: string
  /** Id of its user. */
  readonly user: string
  readonly user_name: string
  readonly label: string | null
  /** The first characters of the secret. */
  readonly start: string
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  /** A minute late at most. */
  readonly last_used_at: string | null
  readonly scopes: readonly Scope[]
  /** Null: all models. */
  readonly models: readonly string[] | null
  readonly limits: readonly Limit[] | null
  /** Until when the secret before the last rotation works too. */
  readonly old_secret_until: string | null
}

const limitsOf = (json: string | undefined): readonly Limit[] | null =>
  json === undefined ? null : (JSON.parse(json) as readonly Limit[])

export const toUserView = (user: AdminUser): UserView => ({
  id: user.id,
  name: user.name,
  role: user.role,
  team: user.team ?? null,
  team_name: user.teamName ?? null,
  service: user.service,
  external_id: user.externalId ?? null,
  created_at: isoTime(user.createdAt),
  disabled_at: isoOrNull(user.disabledAt),
  last_active_at: isoOrNull(user.lastActiveAt),
  login: user.login,
  limits: limitsOf(user.limits),
})

export const toTeamView = ({ id, name, limits, members, createdAt }: Team): TeamView => ({
  ...{ id, name, limits: limitsOf(limits), members, created_at: isoTime(createdAt) },
})

export const toTokenView = (token: AdminToken): TokenView => ({
  id: token.id,
  user: token.user,
  user_name: token.userName,
  label: token.label ?? null,
  start: token.start,
  created_at: isoTime(token.createdAt),
  expires_at: isoOrNull(token.expiresAt),
  revoked_at: isoOrNull(token.revokedAt),
  last_used_at: isoOrNull(token.lastUsedAt),
  scopes: token.scopes,
  models: token.models ?? null,
  limits: limitsOf(token.limits),
  old_secret_until: isoOrNull(token.oldUntil),
})
