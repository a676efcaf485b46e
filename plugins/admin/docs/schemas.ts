import { Type } from '@sinclair/typebox'
import { auditActions } from '../../shared/audit.ts'
import { scopes } from '../../shared/identity/scopes.ts'
import { enumOf, nullable, type SchemaOf } from '../../shared/plugin/openapi.ts'
import type { Limit, LimitReport } from '../../usage-limits/index.ts'
import { videoTaskStatuses } from '../videos.ts'
import type { AuditEntryView } from '../views/audit.ts'
import type { PendingGroupView, VideoView } from '../views/decisions.ts'
import type { TeamView, TokenView, UserView } from '../views/people.ts'
import type { SettingsView, UpstreamView } from '../views/system.ts'
import { upstreamStates } from '../views/system.ts'
import type { UsageRowView } from '../views/usage.ts'

const text = Type.String()
const count = Type.Integer({ minimum: 0 })
const time = Type.String({ format: 'date-time' })

const units = [
  ...(['requests', 'tokens', 'cost', 'videos', 'video_seconds'] as const),
  ...(['running_videos', 'streams', 'groups', 'assets', 'storage_bytes'] as const),
]
const unit = enumOf(units)
const windows = ['minute', 'hour', 'day', 'week', 'month'] as const

export const limitSchema: SchemaOf<Limit> = Type.Object(
  {
    unit,
    amount: Type.Number({ minimum: 0, description: 'An integer; of the unit cost a number of currency units' }),
    window: Type.Optional(enumOf(windows)),
    model: Type.Optional(Type.String({ description: 'Only of this model; `*` at the end stands for any rest' })),
  },
  { title: 'LimitEntry', description: 'An entry of a list of limits' },
)

const limits = nullable(Type.Array(limitSchema))

export const userSchema: SchemaOf<UserView> = Type.Object(
  {
    id: text,
    name: text,
    role: enumOf(['user', 'admin']),
    team: nullable(Type.String({ description: 'Id of the team' })),
    team_name: nullable(text),
    service: Type.Boolean({ description: 'The user has tokens and no login' }),
    external_id: nullable(text),
    created_at: time,
    disabled_at: nullable(time),
    last_active_at: nullable(Type.String({ format: 'date-time', description: 'A minute late at most' })),
    login: enumOf(['password', 'oidc', 'none']),
    limits: nullable(
      Type.Array(limitSchema, { description: 'Null: the default of all users. Empty: the user has no limits' }),
    ),
  },
  { title: 'User' },
)

export const teamSchema: SchemaOf<TeamView> = Type.Object(
  { id: text, name: text, limits, members: count, created_at: time },
  { title: 'Team' },
)

const tokenFields = {
  id: text,
  user: Type.String({ description: 'Id of the user' }),
  user_name: text,
  label: nullable(text),
  start: Type.String({ description: 'The first characters of the token' }),
  created_at: time,
  expires_at: nullable(time),
  revoked_at: nullable(time),
  last_used_at: nullable(Type.String({ format: 'date-time', description: 'A minute late at most' })),
  scopes: Type.Array(enumOf(scopes)),
  models: nullable(Type.Array(text, { description: 'Null: all models' })),
  limits,
  old_secret_until: nullable(
    Type.String({ format: 'date-time', description: 'The secret before the last rotation works until then' }),
  ),
}

export const tokenSchema: SchemaOf<TokenView> = Type.Object(tokenFields, { title: 'Token' })

/** A token in the response that shows its secret. A repetition of the request gets none. */
export const issuedTokenSchema: SchemaOf<TokenView & { readonly token?: string }> = Type.Object(
  {
    ...tokenFields,
    token: Type.Optional(
      Type.String({ pattern: '^sk-', description: 'The secret. Absent in the response to a repeated request' }),
    ),
  },
  { title: 'IssuedToken' },
)

export const limitReportSchema: SchemaOf<LimitReport> = Type.Object(
  {
    subject: Type.Object({ type: enumOf(['account', 'team', 'user', 'token']), id: text, name: text }),
    unit,
    window: nullable(enumOf(windows)),
    model: nullable(text),
    amount: Type.Number(),
    used: Type.Number(),
    reserved: Type.Number({ description: 'What calls in progress hold' }),
    remaining: Type.Number(),
    resets_at: nullable(time),
  },
  { title: 'LimitReport' },
)

export const usageRowSchema: SchemaOf<UsageRowView> = Type.Object(
  {
    day: Type.Optional(Type.String({ format: 'date' })),
    user: Type.Optional(text),
    user_name: Type.Optional(nullable(text)),
    team: Type.Optional(nullable(Type.String({ description: 'The team that the user was in' }))),
    team_name: Type.Optional(nullable(text)),
    token: Type.Optional(nullable(text)),
    token_name: Type.Optional(nullable(Type.String({ description: 'The label' }))),
    token_start: Type.Optional(nullable(Type.String({ description: 'The first characters' }))),
    model: Type.Optional(text),
    calls: count,
    unreported: Type.Integer({ minimum: 0, description: 'Calls for which the upstream has reported no tokens' }),
    input_tokens: count,
    cached_tokens: Type.Integer({ minimum: 0, description: 'Part of input_tokens' }),
    output_tokens: count,
    reasoning_tokens: Type.Integer({ minimum: 0, description: 'Part of output_tokens' }),
    video_seconds: nullable(Type.Number({ minimum: 0, description: 'Null: there were no videos' })),
    cost: nullable(
      Type.Number({ minimum: 0, description: "In the currency of the operator's price table. Null: no price" }),
    ),
  },
  { title: 'UsageSum', description: 'Members by which the usage is not grouped are absent' },
)

export const auditEntrySchema: SchemaOf<AuditEntryView> = Type.Object(
  {
    id: text,
    at: time,
    action: enumOf(auditActions),
    user: nullable(Type.String({ description: 'Id of the user who did it' })),
    user_name: nullable(text),
    token: nullable(text),
    kind: nullable(Type.String({ description: 'Kind of the object that the action affects' })),
    target: nullable(Type.String({ description: 'Id of that object' })),
    address: nullable(Type.String({ description: 'Client address; `admin` for the command line' })),
    status: nullable(Type.Integer()),
    reason: nullable(text),
    fields: nullable(Type.Array(text, { description: 'Names of the fields that were set or changed' })),
    times: Type.Integer({ minimum: 1 }),
  },
  { title: 'AuditEntry' },
)

export const pendingGroupSchema: SchemaOf<PendingGroupView> = Type.Object(
  {
    id: text,
    user: text,
    user_name: nullable(text),
    type: text,
    name: text,
    state: enumOf(['pending', 'unresolved']),
    renames: nullable(Type.String({ description: 'Id of the group that is renamed. Null: a group is created' })),
    account: nullable(
      Type.String({ description: 'The account of the asset library with the group. Null: the first, or the only one' }),
    ),
    group: nullable(Type.String({ description: 'Id of the group that the upstream created. Null: unknown' })),
    created_at: time,
    due_at: time,
  },
  { title: 'PendingGroup' },
)

export const videoSchema: SchemaOf<VideoView> = Type.Object(
  {
    id: text,
    user: text,
    user_name: nullable(text),
    token: nullable(text),
    model: text,
    status: enumOf(videoTaskStatuses),
    phase: Type.String({ description: '`waiting`, `submitting`, `submitted`, `copying` or `ended`' }),
    created_at: time,
    ended_at: nullable(time),
    upstream_id: nullable(text),
    error_code: nullable(text),
    undecided: nullable(enumOf(['create_outcome_unknown', 'running_too_long'])),
  },
  { title: 'AdminVideoTask' },
)

export const upstreamSchema: SchemaOf<UpstreamView> = Type.Object(
  {
    name: text,
    kind: text,
    state: enumOf(upstreamStates),
    since: nullable(Type.String({ format: 'date-time', description: 'Null: it was not called yet' })),
    last_error: nullable(
      Type.Object({
        at: time,
        status: nullable(Type.Integer({ description: 'Null: there was no response' })),
        message: text,
      }),
    ),
    calls: Type.Integer({ minimum: 0, description: 'In the last minute' }),
    errors: Type.Integer({ minimum: 0, description: 'In the last minute' }),
    limits: Type.Array(
      Type.Object({
        action: text,
        per_second: Type.Number(),
        calls: Type.Integer({ minimum: 0, description: 'In the last second' }),
        waiting: Type.Integer({ minimum: 0, description: 'Calls that wait for a place' }),
      }),
    ),
    slots: Type.Array(
      Type.Object({
        pool: Type.String({ description: 'The model or endpoint' }),
        slots: nullable(Type.Integer({ description: 'Null: no maximum is set' })),
        running: count,
        waiting: count,
        users: Type.Array(Type.Object({ user: text, user_name: nullable(text), running: count, waiting: count })),
      }),
    ),
    asset_slots: nullable(
      Type.Object(
        {
          slots: nullable(Type.Integer({ description: 'Null: the quota of the account, which is not known yet' })),
          used: count,
          persons: Type.Integer({ minimum: 0, description: 'Of assets of persons: nobody can take them away' }),
          pinned: Type.Integer({
            minimum: 0,
            description: 'Others that nobody can take now: something uses the asset',
          }),
          waiting: Type.Integer({ minimum: 0, description: 'Video tasks and requests for which there is none' }),
          last_evicted_at: nullable(
            Type.String({ format: 'date-time', description: 'When an asset last lost its slot to another one' }),
          ),
          users: Type.Array(Type.Object({ user: text, user_name: nullable(text), used: count, persons: count }), {
            description: 'Those with the most slots, at most 20',
          }),
        },
        { description: 'Of the assets of an account. Null: assets stay where they are' },
      ),
    ),
  },
  { title: 'UpstreamReport', description: 'As the process that answers has seen it; slots are those of all processes' },
)

export const settingsSchema: SchemaOf<SettingsView> = Type.Record(Type.String(), Type.Unknown(), {
  title: 'Settings',
  description: 'The settings in force, by variable. A secret is `set` or `unset`',
})

export const cursorSchema = nullable(Type.String({ description: 'For the next page. Null: this is the last one' }))
