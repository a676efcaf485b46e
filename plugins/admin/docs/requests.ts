import { Type } from '@sinclair/typebox'
import { auditActions } from '../../shared/audit.ts'
import { type Role, type Scope, scopes } from '../../shared/identity/scopes.ts'
import { enumOf, nullable, queryParameter, type SchemaOf } from '../../shared/plugin/openapi.ts'
import type { Limit } from '../../usage-limits/index.ts'
import { videoTaskStatuses } from '../videos.ts'
import { limitSchema } from './schemas.ts'

/** A user to be added. */
export interface NewUserRequest {
  readonly name: string
  readonly password?: string | null
  readonly role?: Role | null
  /** Id of a team. */
  readonly team?: string | null
  readonly service?: boolean | null
  readonly external_id?: string | null
  readonly limits?: readonly Limit[] | null
  /** True: the response has a link with which its holder sets the password. */
  readonly invite?: boolean | null
}

/** What of a user to change. Null takes a value away. */
export interface UserChangeRequest {
  readonly name?: string
  readonly role?: Role
  readonly team?: string | null
  readonly disabled?: boolean
  readonly password?: string
  readonly external_id?: string | null
  readonly limits?: readonly Limit[] | null
}

/** A team to be added, or what of it to change. */
export interface TeamRequest {
  readonly name?: string
  readonly limits?: readonly Limit[] | null
}

/** A token to be added, or what of it to change. */
export interface AdminTokenRequest {
  readonly label?: string | null
  /** ISO 8601, with a time zone. Null: never. */
  readonly expires_at?: string | null
  readonly scopes?: readonly Scope[] | null
  readonly models?: readonly string[] | null
  readonly limits?: readonly Limit[] | null
}

const limits = Type.Optional(nullable(Type.Array(limitSchema, { maxItems: 50 })))
const line = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const role = enumOf(['user', 'admin'])
const password = Type.String({ description: 'At least 12 characters, or 8 of three kinds; not the name' })

export const newUserSchema: SchemaOf<NewUserRequest> = Type.Object(
  {
    name: line(128),
    password: Type.Optional(nullable(password)),
    role: Type.Optional(nullable(role)),
    team: Type.Optional(nullable(Type.String({ description: 'Id of a team' }))),
    service: Type.Optional(nullable(Type.Boolean({ description: 'The user has tokens and no login' }))),
    external_id: Type.Optional(nullable(line(256))),
    limits,
    invite: Type.Optional(nullable(Type.Boolean())),
  },
  { title: 'NewUser', additionalProperties: false },
)

export const userChangeSchema: SchemaOf<UserChangeRequest> = Type.Object(
  {
    name: Type.Optional(line(128)),
    role: Type.Optional(role),
    team: Type.Optional(nullable(Type.String({ description: 'Id of a team. Null: in no team' }))),
    disabled: Type.Optional(Type.Boolean({ description: "True ends the user's sessions, tokens and streams" })),
    password: Type.Optional(password),
    external_id: Type.Optional(nullable(line(256))),
    limits,
  },
  { title: 'UserChange', additionalProperties: false },
)

export const newTeamSchema: SchemaOf<TeamRequest & { readonly name: string }> = Type.Object(
  { name: line(128), limits },
  { title: 'NewTeam', additionalProperties: false },
)

export const teamChangeSchema: SchemaOf<TeamRequest> = Type.Object(
  { name: Type.Optional(line(128)), limits },
  { title: 'TeamChange', additionalProperties: false },
)

export const adminTokenSchema: SchemaOf<AdminTokenRequest> = Type.Object(
  {
    label: Type.Optional(nullable(line(128))),
    expires_at: Type.Optional(
      nullable(Type.String({ format: 'date-time', description: 'In the future. Null: never' })),
    ),
    scopes: Type.Optional(
      nullable(
        Type.Array(enumOf(scopes), {
          description: 'Default: media, text, video',
        }),
      ),
    ),
    models: Type.Optional(
      nullable(Type.Array(line(256), { maxItems: 100, description: '`*` at the end of one stands for any rest' })),
    ),
    limits,
  },
  { title: 'TokenSettings', additionalProperties: false },
)

export const rotationSchema: SchemaOf<{ readonly overlap_seconds?: number | null }> = Type.Object(
  {
    overlap_seconds: Type.Optional(
      nullable(
        Type.Integer({ minimum: 0, maximum: 604_800, description: 'How long the old secret works too. Default 0' }),
      ),
    ),
  },
  { title: 'Rotation', additionalProperties: false },
)

export const groupAdoptionSchema: SchemaOf<{ readonly user: string; readonly group_id: string }> = Type.Object(
  { user: Type.String({ description: 'Id of the user' }), group_id: Type.String() },
  { title: 'GroupAdoption', additionalProperties: false },
)

/** A group of the upstream that a user gets. */
export interface GroupGiftRequest {
  /** Id of the user. */
  readonly user: string
  readonly group_id: string
  readonly type: 'AIGC' | 'LivenessFace'
  readonly name: string
  /** The account of the asset library that has the group. Default: the first, or the only one. */
  readonly account?: string
}

export const groupGiftSchema: SchemaOf<GroupGiftRequest> = Type.Object(
  {
    user: Type.String({ description: 'Id of the user' }),
    group_id: Type.String(),
    type: enumOf(['AIGC', 'LivenessFace']),
    name: Type.String({ description: '1 to 64 characters' }),
    account: Type.Optional(
      Type.String({
        description: 'The account of the asset library that has the group. Default: the first, or the only one',
      }),
    ),
  },
  { title: 'GroupGift', additionalProperties: false },
)

export const videoAdoptionSchema: SchemaOf<{ readonly upstream_id: string }> = Type.Object(
  { upstream_id: Type.String({ description: "The upstream's id of the task" }) },
  { title: 'VideoAdoption', additionalProperties: false },
)

/** The parameters of every list. */
export interface PageQuery {
  readonly limit?: number
  readonly cursor?: string
}

export const pageQuery = [
  queryParameter('limit', 'Items of a page. Default 50', Type.Integer({ minimum: 1, maximum: 200 })),
  queryParameter('cursor', 'The `next_cursor` of the page before, with the same other parameters'),
]

export const userQuery = [
  queryParameter('search', 'Part of the name, in any case'),
  queryParameter('role', 'The role', enumOf(['user', 'admin'])),
  queryParameter('team', 'Id of a team'),
  queryParameter('state', 'Whether they are disabled', enumOf(['enabled', 'disabled'])),
  ...pageQuery,
]

export const tokenQuery = [
  queryParameter(
    'search',
    'Part of the label, or the beginning of the token, in any case. Of a whole token only the first characters count',
  ),
  queryParameter('user', 'Id of a user'),
  queryParameter(
    'state',
    'Whether they work. A revoked one counts as `revoked`, also after its end',
    enumOf(['valid', 'expired', 'revoked']),
  ),
  queryParameter('used_since', 'Used since this time, ISO 8601 with a time zone, or a day in UTC'),
  queryParameter('unused_since', 'Not used since this time, in the same form: also those that were never used'),
  ...pageQuery,
]

const day = Type.String({ format: 'date' })

export const usageQuery = [
  queryParameter('since', 'The first day, in UTC', day),
  queryParameter('until', 'The last day, in UTC', day),
  queryParameter('user', 'Id of a user'),
  queryParameter('team', 'Id of a team'),
  queryParameter('token', 'Id of a token'),
  queryParameter('model', 'A model'),
  queryParameter('kind', 'Text generation or videos', enumOf(['text', 'video'])),
  queryParameter(
    'group_by',
    'Any of `day`, `user`, `team`, `token`, `model`, separated by commas. Default: all. Empty: one sum. Sums by token are also by user',
  ),
  queryParameter('format', '`csv`: the whole report as a file', enumOf(['json', 'csv'])),
  ...pageQuery,
]

export const videoQuery = [
  queryParameter('user', 'Id of a user'),
  queryParameter(
    'status',
    'The status; `undecided`: those that need the decision of a person',
    enumOf(['undecided', ...videoTaskStatuses]),
  ),
  ...pageQuery,
]

export const consentQuery = [
  queryParameter('state', 'Only those that were withdrawn, also where everything was deleted', enumOf(['withdrawn'])),
  ...pageQuery,
]

export const assetBatchQuery = [
  queryParameter('user', 'Id of a user'),
  queryParameter('state', 'Only those that have not ended', enumOf(['running'])),
  ...pageQuery,
]

export const verificationQuery = [
  queryParameter('head', 'The `head` of an earlier verification, which must still be in the trail'),
]

export const auditQuery = [
  queryParameter('user', 'Id of a user'),
  queryParameter('action', 'The action', enumOf(auditActions)),
  queryParameter('since', 'The first time, ISO 8601 with a time zone, or a day in UTC'),
  queryParameter('until', 'The end, exclusive, in the same form'),
  ...pageQuery,
]
