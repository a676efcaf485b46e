import type { AuditAction } from '../shared/audit.ts'
import type { Role, Scope } from '../shared/identity/scopes.ts'
import type { Limit } from '../usage-limits/index.ts'
import type { AuditRecord, AuditVerification } from './audit-pages.ts'
import type { PendingGroup } from './pending-groups.ts'
import type { AdminToken, AdminUser, Team } from './store.ts'
import type { UsageDimension, UsageTotal } from './usage-sums.ts'
import type { AdminVideo, VideoTaskStatus } from './videos.ts'

// What the admin API and the command line show of each object. Times are ISO 8601, in UTC.

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

/** The usage of one combination of values. Members that it is not summed by are absent. */
export interface UsageRowView {
  /** UTC day. */
  readonly day?: string
  readonly user?: string
  /** Null: a user of a host app. */
  readonly user_name?: string | null
  /** The team that the user was in. */
  readonly team?: string | null
  readonly team_name?: string | null
  readonly token?: string | null
  /** The label of the token. */
  readonly token_name?: string | null
  /** The first characters of the token. */
  readonly token_start?: string | null
  readonly model?: string
  readonly calls: number
  /** Calls for which the upstream has reported no tokens. */
  readonly unreported: number
  readonly input_tokens: number
  readonly cached_tokens: number
  readonly output_tokens: number
  readonly reasoning_tokens: number
  readonly video_seconds: number | null
  readonly cost: number | null
}

/** An entry of the audit trail. */
export interface AuditEntryView {
  readonly id: string
  readonly at: string
  readonly action: AuditAction
  /** Id of the user who did it; for the command line, of the user whom it affects. */
  readonly user: string | null
  readonly user_name: string | null
  /** Id of the token that the user used. */
  readonly token: string | null
  /** Kind and id of the object that the action affects. */
  readonly kind: string | null
  readonly target: string | null
  /** Client address; `admin` for the command line. */
  readonly address: string | null
  readonly status: number | null
  readonly reason: string | null
  /** Names of the fields that were set or changed. */
  readonly fields: readonly string[] | null
  readonly times: number
}

/** What a verification of the audit trail has found. */
export interface AuditVerificationView {
  /** Empty: the trail is intact. */
  readonly problems: readonly string[]
  readonly verified: number
  readonly first: number | null
  /** To be kept elsewhere: `NUMBER:HMAC` of the last entry. */
  readonly head: string
  readonly removed: number
  readonly without_hmac: number
  readonly newest_without_hmac: string | null
  readonly keys: AuditVerification['keys']
}

/** The creation or renaming of a group whose outcome is not known. */
export interface PendingGroupView {
  readonly id: string
  readonly user: string
  readonly user_name: string | null
  readonly type: string
  readonly name: string
  readonly state: 'pending' | 'unresolved'
  /** Id of the group that is renamed. Null: a group is created. */
  readonly renames: string | null
  /** Id of the group that the upstream created. Null: unknown. */
  readonly group: string | null
  readonly created_at: string
  /** When the gateway looks for it. */
  readonly due_at: string
}

/** A video task. */
export interface VideoView {
  readonly id: string
  readonly user: string
  readonly user_name: string | null
  readonly token: string | null
  readonly model: string
  readonly status: VideoTaskStatus
  /** What the gateway does with it. */
  readonly phase: string
  readonly created_at: string
  readonly ended_at: string | null
  readonly upstream_id: string | null
  /** Code of the error of a failed task. */
  readonly error_code: string | null
  /** Why it needs the decision of a person. Null: it needs none. */
  readonly undecided: 'create_outcome_unknown' | 'running_too_long' | null
}

export const upstreamStates = ['reachable', 'not called yet', "rejects the gateway's key", 'unreachable'] as const
export type UpstreamState = (typeof upstreamStates)[number]

/** An upstream, as the process that answers has seen it. */
export interface UpstreamView {
  readonly name: string
  /** `rest`, `ark`, `text` or `video`. */
  readonly kind: string
  readonly state: UpstreamState
  /** Since when it has this state. Null: it was not called yet. */
  readonly since: string | null
  /** The last call that failed. `status` null: there was no response. */
  readonly last_error: { readonly at: string; readonly status: number | null; readonly message: string } | null
  /** Calls in the last minute, and those that failed. */
  readonly calls: number
  readonly errors: number
  readonly limits: readonly {
    readonly action: string
    readonly per_second: number
    /** Calls in the last second. */
    readonly calls: number
    /** Calls that wait for a place. */
    readonly waiting: number
  }[]
  /** The slots of video tasks, of all processes. */
  readonly slots: readonly {
    /** The model or endpoint. */
    readonly pool: string
    /** Null: no maximum is set. */
    readonly slots: number | null
    readonly running: number
    readonly waiting: number
    readonly users: readonly {
      readonly user: string
      readonly user_name: string | null
      readonly running: number
      readonly waiting: number
    }[]
  }[]
}

/** The settings in force, by variable. A secret is `set` or `unset`. */
export type SettingsView = Readonly<Record<string, unknown>>

/** A time as ISO 8601, in UTC. */
export const isoTime = (time: number): string => new Date(time).toISOString()

const isoOrNull = (time: number | undefined): string | null => (time === undefined ? null : isoTime(time))

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

const billion = 1_000_000_000

/** @param by what the rows are summed by */
export const toUsageRowView = (total: UsageTotal, by: readonly UsageDimension[]): UsageRowView => ({
  ...(by.includes('day') && { day: total.day ?? '' }),
  ...((by.includes('user') || by.includes('token')) && { user: total.user ?? '', user_name: total.userName ?? null }),
  ...(by.includes('team') && { team: total.team ?? null, team_name: total.teamName ?? null }),
  ...(by.includes('token') && {
    ...{ token: total.token ?? null, token_name: total.tokenName ?? null, token_start: total.tokenStart ?? null },
  }),
  ...(by.includes('model') && { model: total.model ?? '' }),
  calls: total.calls,
  unreported: total.unreported,
  input_tokens: total.inputTokens,
  cached_tokens: total.cachedTokens,
  output_tokens: total.outputTokens,
  reasoning_tokens: total.reasoningTokens,
  video_seconds: total.videoSeconds ?? null,
  cost: total.cost === undefined ? null : total.cost / billion,
})

export const toAuditEntryView = (entry: AuditRecord): AuditEntryView => ({
  id: entry.id,
  at: isoTime(entry.at),
  action: entry.action,
  user: entry.user ?? null,
  user_name: entry.name ?? null,
  token: entry.token ?? null,
  kind: entry.kind ?? null,
  target: entry.target ?? null,
  address: entry.address ?? null,
  status: entry.status ?? null,
  reason: entry.reason ?? null,
  fields: entry.fields ?? null,
  times: entry.times,
})

export const toVerificationView = (found: AuditVerification): AuditVerificationView => ({
  problems: found.problems,
  verified: found.verified,
  first: found.first ?? null,
  head: `${found.head.sequence}:${found.head.hmac}`,
  removed: found.removed,
  without_hmac: found.unchained.entries,
  newest_without_hmac: isoOrNull(found.unchained.newestAt),
  keys: found.keys,
})

export const toPendingGroupView = (pending: PendingGroup): PendingGroupView => ({
  id: pending.id,
  user: pending.user,
  user_name: pending.userName ?? null,
  type: pending.type,
  name: pending.name,
  state: pending.state,
  renames: pending.renames ?? null,
  group: pending.group ?? null,
  created_at: isoTime(pending.createdAt),
  due_at: isoTime(pending.dueAt),
})

export const toVideoView = (video: AdminVideo): VideoView => ({
  id: video.id,
  user: video.user,
  user_name: video.userName ?? null,
  token: video.token ?? null,
  model: video.model,
  status: video.status,
  phase: video.phase,
  created_at: isoTime(video.createdAt),
  ended_at: isoOrNull(video.endedAt),
  upstream_id: video.upstreamId ?? null,
  error_code: video.errorCode ?? null,
  undecided: video.undecided ?? null,
})
