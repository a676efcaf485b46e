import { Type } from '@sinclair/typebox'
import {
  jsonBody,
  noStoreResponses,
  nullable,
  pathParameter,
  routesWithTag,
  type SchemaOf,
  successBody,
  successOf,
} from '../../shared/plugin/openapi.ts'
import type { ServiceRoute } from '../../shared/plugin/plugin.ts'

/** The account of the caller. */
export interface AccountResponse {
  readonly success: true
  readonly account: {
    readonly id: string
    readonly name: string
    readonly role: 'user' | 'admin'
    /** Name of the team. Null: in none. */
    readonly team: string | null
    /** How the user logs in. */
    readonly login: 'password' | 'oidc' | 'none'
  }
}

/** The body of a change of the own password. */
export interface PasswordChange {
  readonly current_password: string
  /** At least 12 characters, or 8 of three kinds, and never the name. */
  readonly password: string
}

/** The sessions of the caller, newest first. Times are ISO 8601, in UTC. */
export interface SessionList {
  readonly success: true
  readonly sessions: readonly {
    readonly id: string
    readonly created_at: string
    /** A minute late at most. */
    readonly last_used_at: string
    /** When it ends unless it is used. */
    readonly expires_at: string
    /** The browser, as it calls itself. */
    readonly user_agent: string | null
    /** Whether the request itself has this session. */
    readonly current: boolean
  }[]
}

/** An invitation that is valid. */
export interface InvitationResponse {
  readonly success: true
  readonly invitation: {
    readonly name: string
    /** ISO 8601, in UTC. */
    readonly expires_at: string
  }
}

/** The user of an invitation, who has a password now. */
export interface RedeemedInvitation {
  readonly success: true
  readonly user: { readonly id: string; readonly name: string }
}

type Success = { readonly success: true }

/** The routes of `ownAccount`, for Eden. */
export type OwnAccountRoutes = {
  account: {
    get: ServiceRoute<AccountResponse, 401 | 404 | 429 | 500 | 503>
    patch: ServiceRoute<
      AccountResponse,
      400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 429 | 500 | 503,
      { body: PasswordChange }
    >
    sessions: {
      get: ServiceRoute<SessionList, 401 | 429 | 500 | 503>
      delete: ServiceRoute<Success, 401 | 403 | 429 | 500 | 503>
      ':id': {
        delete: ServiceRoute<Success, 401 | 403 | 404 | 429 | 500 | 503, { params: { id: string } }>
      }
    }
  }
  invitations: {
    ':token': {
      get: ServiceRoute<InvitationResponse, 404 | 429 | 500 | 503, { params: { token: string } }>
      post: ServiceRoute<
        RedeemedInvitation,
        400 | 403 | 404 | 408 | 413 | 415 | 429 | 500 | 503,
        { params: { token: string }; body: { readonly password: string } }
      >
    }
  }
}

const account: SchemaOf<AccountResponse> = successOf('AccountResponse', {
  account: Type.Object(
    {
      id: Type.String(),
      name: Type.String(),
      role: Type.Union([Type.Literal('user'), Type.Literal('admin')]),
      team: nullable(Type.String(), { description: 'Name of the team. Null: in none' }),
      login: Type.Union([Type.Literal('password'), Type.Literal('oidc'), Type.Literal('none')]),
    },
    { title: 'Account' },
  ),
})

const newPassword = Type.String({
  description: 'At least 12 characters, or 8 of three kinds (lower case, upper case, digits, others); never the name',
})

const passwordChange: SchemaOf<PasswordChange> = Type.Object(
  { current_password: Type.String(), password: newPassword },
  { title: 'PasswordChange' },
)

const time = Type.String({ format: 'date-time' })

const sessionList: SchemaOf<SessionList> = successOf('SessionList', {
  sessions: Type.Array(
    Type.Object(
      {
        id: Type.String(),
        created_at: time,
        last_used_at: Type.String({ format: 'date-time', description: 'A minute late at most' }),
        expires_at: Type.String({ format: 'date-time', description: 'When it ends unless it is used' }),
        user_agent: nullable(Type.String({ description: 'The browser, as it calls itself' })),
        current: Type.Boolean({ description: 'Whether the request itself has this session' }),
      },
      { title: 'OwnSession' },
    ),
  ),
})

const invitation: SchemaOf<InvitationResponse> = successOf('InvitationResponse', {
  invitation: Type.Object({ name: Type.String(), expires_at: time }, { title: 'InvitedUser' }),
})

const redeemed: SchemaOf<RedeemedInvitation> = successOf('RedeemedInvitation', {
  user: Type.Object({ id: Type.String(), name: Type.String() }),
})

const route = routesWithTag('account')

const token = pathParameter('token', 'The secret in the link of the invitation')

/** Elysia options of each route. */
export const accountDocs = {
  show: route({
    operationId: 'getAccount',
    summary: 'Get the own account',
    responses: noStoreResponses('The account', account, 401, 404, 429, 500, 503),
  }),
  changePassword: route({
    operationId: 'changePassword',
    summary: 'Change the own password; all other sessions end',
    requestBody: jsonBody(passwordChange),
    responses: noStoreResponses('The account', account, 400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 503),
  }),
  listSessions: route({
    operationId: 'listSessions',
    summary: 'List the own sessions, newest first',
    responses: noStoreResponses('The sessions', sessionList, 401, 429, 500, 503),
  }),
  endOtherSessions: route({
    operationId: 'endOtherSessions',
    summary: 'End all own sessions but this one',
    responses: noStoreResponses('They have ended', successBody, 401, 403, 429, 500, 503),
  }),
  endSession: route({
    operationId: 'endSession',
    summary: 'End one of the own sessions',
    parameters: [pathParameter('id', 'Id of the session')],
    responses: noStoreResponses('It has ended', successBody, 401, 403, 404, 429, 500, 503),
  }),
  showInvitation: route({
    operationId: 'getInvitation',
    summary: 'Get the name of an invited user; the invitation stays valid',
    security: [],
    parameters: [token],
    responses: noStoreResponses('The invitation', invitation, 404, 429, 500, 503),
  }),
  redeemInvitation: route({
    operationId: 'redeemInvitation',
    summary: 'Set the password of an invited user; it ends the invitation',
    security: [],
    parameters: [token],
    requestBody: jsonBody(Type.Object({ password: newPassword }, { title: 'NewPassword' })),
    responses: noStoreResponses('The user', redeemed, 400, 403, 404, 408, 413, 415, 429, 500, 503),
  }),
}
