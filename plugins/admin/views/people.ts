import type { Limit } from '../../usage-limits/index.ts'
import type { TeamView, TokenView, UserView } from '../docs/schemas.ts'
import type { AdminToken, AdminUser, Team } from '../store.ts'
import { isoOrNull, isoTime } from './time.ts'

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
