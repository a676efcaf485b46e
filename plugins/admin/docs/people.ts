import { Type } from '@sinclair/typebox'
import {
  idempotencyKeyParameter,
  jsonBody,
  nullable,
  pathParameter,
  type SchemaOf,
  successOf,
} from '../../shared/plugin/openapi.ts'
import type { LimitReport } from '../../usage-limits/index.ts'
import type { TokenState } from '../store.ts'
import type { TeamView, TokenView, UserView } from '../views/people.ts'
import {
  type AdminTokenRequest,
  adminTokenSchema,
  type NewUserRequest,
  newTeamSchema,
  newUserSchema,
  type PageQuery,
  pageQuery,
  rotationSchema,
  type TeamRequest,
  teamChangeSchema,
  tokenQuery,
  type UserChangeRequest,
  userChangeSchema,
  userQuery,
} from './requests.ts'
import {
  createdOnce,
  type Done,
  done,
  type ListPage,
  listOf,
  type One,
  objectOf,
  type ReadRoute,
  route,
  type WithId,
  type WriteRoute,
} from './route.ts'
import { issuedTokenSchema, limitReportSchema, teamSchema, tokenSchema, userSchema } from './schemas.ts'

/** A link with which its holder sets the password of a user. */
export interface InvitationLink {
  /** Null in the response to a repeated request: the link is shown once. */
  readonly url: string | null
  readonly expires_at: string
}

/** A user that was added. */
export interface AddedUser {
  readonly success: true
  readonly user: UserView
  readonly invitation?: InvitationLink
}

/** A token with its secret, which only this response has. */
export interface IssuedTokenResponse {
  readonly success: true
  /** `token` is absent in the response to a repeated request. */
  readonly token: TokenView & { readonly token?: string }
}

/** The routes of users, teams and tokens below the prefix of `admin`, for Eden. */
export type PeopleRoutes = {
  users: {
    get: ReadRoute<ListPage<'users', UserView>, { query: UserQuery }>
    post: WriteRoute<AddedUser, { body: NewUserRequest }>
    import: {
      post: WriteRoute<One<'users', readonly { readonly id: string; readonly name: string }[]>, { body: string }>
    }
    ':id': {
      get: ReadRoute<One<'user', UserView>, WithId>
      patch: WriteRoute<One<'user', UserView>, WithId & { body: UserChangeRequest }>
      invitation: { post: WriteRoute<One<'invitation', InvitationLink>, WithId> }
      sessions: { delete: WriteRoute<Done, WithId> }
      limits: { get: ReadRoute<One<'limits', readonly LimitReport[]>, WithId> }
      tokens: {
        get: ReadRoute<ListPage<'tokens', TokenView>, WithId & { query: PageQuery }>
        post: WriteRoute<IssuedTokenResponse, WithId & { body: AdminTokenRequest | undefined }>
      }
    }
  }
  teams: {
    get: ReadRoute<ListPage<'teams', TeamView>, { query: PageQuery }>
    post: WriteRoute<One<'team', TeamView>, { body: TeamRequest & { readonly name: string } }>
    ':id': {
      patch: WriteRoute<One<'team', TeamView>, WithId & { body: TeamRequest }>
      delete: WriteRoute<Done, WithId>
    }
  }
  tokens: {
    get: ReadRoute<ListPage<'tokens', TokenView>, { query: TokenQuery }>
    ':id': {
      patch: WriteRoute<One<'token', TokenView>, WithId & { body: AdminTokenRequest }>
      delete: WriteRoute<Done, WithId>
      rotate: {
        post: WriteRoute<
          IssuedTokenResponse,
          WithId & { body: { readonly overlap_seconds?: number | null } | undefined }
        >
      }
    }
  }
}

type UserQuery = PageQuery & {
  readonly search?: string
  readonly role?: 'user' | 'admin'
  readonly team?: string
  readonly state?: 'enabled' | 'disabled'
}

type TokenQuery = PageQuery & {
  readonly search?: string
  readonly user?: string
  readonly state?: TokenState
  readonly used_since?: string
  readonly unused_since?: string
}

const invitationLink: SchemaOf<InvitationLink> = Type.Object(
  {
    url: nullable(Type.String({ description: 'Null in the response to a repeated request' })),
    expires_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Invitation' },
)

const userId = pathParameter('id', 'Id of the user')
const teamId = pathParameter('id', 'Id of the team')
const tokenId = pathParameter('id', 'Id of the token')

/** Elysia options of each route of users. */
export const userDocs = {
  list: route('read', {
    ...{ operationId: 'listUsers', summary: 'List users, oldest first', parameters: userQuery },
    success: listOf('users', userSchema),
  }),
  add: route('write', {
    ...{ operationId: 'addUser', summary: 'Add a user', parameters: [idempotencyKeyParameter] },
    requestBody: jsonBody(newUserSchema),
    success: createdOnce(successOf('AddedUser', { user: userSchema, invitation: Type.Optional(invitationLink) })),
  }),
  import: route('write', {
    operationId: 'importUsers',
    summary: 'Add the users of a CSV file, all or none',
    description:
      'Columns: `name`, and optionally `role`, `team` (its name) and `external_id`. The message of a 400 has a line for each of the first wrong ones.',
    parameters: [idempotencyKeyParameter],
    requestBody: { required: true, content: { 'text/csv': { schema: Type.String() } } },
    success: createdOnce(
      successOf('ImportedUsers', { users: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })) }),
    ),
  }),
  get: route('read', {
    ...{ operationId: 'readUser', summary: 'Read a user', parameters: [userId] },
    success: objectOf('user', userSchema),
  }),
  change: route('write', {
    ...{ operationId: 'changeUser', summary: 'Change a user', parameters: [userId] },
    requestBody: jsonBody(userChangeSchema),
    success: objectOf('user', userSchema),
  }),
  invite: route('write', {
    operationId: 'inviteUser',
    summary: 'Make a link with which its holder sets the password, within 72 hours. A link before ends',
    parameters: [userId, idempotencyKeyParameter],
    success: createdOnce(objectOf('invitation', invitationLink)),
  }),
  endSessions: route('write', {
    ...{ operationId: 'endUserSessions', summary: 'Log a user out everywhere', parameters: [userId] },
    success: done,
  }),
  limits: route('read', {
    ...{ operationId: 'readUserLimits', summary: 'Read the limits of a user and their use', parameters: [userId] },
    success: objectOf('limits', Type.Array(limitReportSchema)),
  }),
}

/** Elysia options of each route of teams. */
export const teamDocs = {
  list: route('read', {
    ...{ operationId: 'listTeams', summary: 'List teams, oldest first', parameters: pageQuery },
    success: listOf('teams', teamSchema),
  }),
  add: route('write', {
    ...{ operationId: 'addTeam', summary: 'Add a team', parameters: [idempotencyKeyParameter] },
    requestBody: jsonBody(newTeamSchema),
    success: createdOnce(objectOf('team', teamSchema)),
  }),
  change: route('write', {
    ...{ operationId: 'changeTeam', summary: 'Change a team', parameters: [teamId] },
    requestBody: jsonBody(teamChangeSchema),
    success: objectOf('team', teamSchema),
  }),
  remove: route('write', {
    ...{ operationId: 'deleteTeam', summary: 'Delete a team without members', parameters: [teamId] },
    success: done,
  }),
}

const issuedToken = successOf('IssuedTokenResponse', { token: issuedTokenSchema })

/** Elysia options of each route of tokens. */
export const adminTokenDocs = {
  listAll: route('read', {
    ...{ operationId: 'listAllTokens', summary: 'List the tokens of all users, oldest first', parameters: tokenQuery },
    description:
      'A page may have fewer items than `limit`, or none, although more follow: then `next_cursor` is no null.',
    success: listOf('tokens', tokenSchema),
  }),
  list: route('read', {
    ...{ operationId: 'listUserTokens', summary: 'List the tokens of a user, oldest first' },
    parameters: [userId, ...pageQuery],
    success: listOf('tokens', tokenSchema),
  }),
  add: route('write', {
    ...{ operationId: 'addUserToken', summary: 'Add a token of a user', parameters: [userId, idempotencyKeyParameter] },
    requestBody: jsonBody(adminTokenSchema, false),
    success: createdOnce(issuedToken),
  }),
  change: route('write', {
    ...{ operationId: 'changeToken', summary: 'Change a token', parameters: [tokenId] },
    requestBody: jsonBody(adminTokenSchema),
    success: objectOf('token', tokenSchema),
  }),
  rotate: route('write', {
    ...{ operationId: 'rotateToken', summary: 'Give a token a new secret. Its id stays', parameters: [tokenId] },
    requestBody: jsonBody(rotationSchema, false),
    success: issuedToken,
  }),
  revoke: route('write', {
    ...{ operationId: 'revokeUserToken', summary: 'Revoke a token', parameters: [tokenId] },
    success: done,
  }),
}
