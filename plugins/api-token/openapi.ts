import { Type } from '@sinclair/typebox'
import type { Scope } from '../shared/identity/scopes.ts'
import {
  jsonBody,
  noStoreResponses,
  nullable,
  pathParameter,
  routesWithTag,
  type SchemaOf,
  successBody,
  successOf,
} from '../shared/plugin/openapi.ts'
import type { ServiceRoute } from '../shared/plugin/plugin.ts'

/** A token, without its secret. */
export interface TokenInfo {
  readonly id: string
  readonly label: string | null
  /** The first characters of the secret. */
  readonly start: string
  /** ISO 8601, in UTC. */
  readonly created_at: string
  /** ISO 8601, in UTC. Null: never. */
  readonly expires_at: string | null
  /** What its holder may do. Null: everything. */
  readonly scopes: readonly Scope[] | null
  /** The models that it may use; `*` at the end of one stands for any rest. Null: all. */
  readonly models: readonly string[] | null
  /** ISO 8601, in UTC, a minute late at most. Null: not used yet. */
  readonly last_used_at: string | null
  /** Whether an operator has given it limits of its own. `limitRoutes` of `usage-limits` shows them. */
  readonly has_limits: boolean
  /**
   * ISO 8601, in UTC: until when the secret before the last rotation works. Null: it does not. Undefined: the store
   * rotates no tokens.
   */
  readonly old_secret_until?: string | null
}

/** The body of a request for a token. */
export interface TokenRequest {
  readonly label?: string | null
  /** ISO 8601, with a time zone. Default: never. */
  readonly expires_at?: string | null
  /** Default: `media`, `text` and `video`. */
  readonly scopes?: readonly ('media' | 'text' | 'video' | 'read')[] | null
  /** Models that the token may use; `*` at the end of one stands for any rest. Default: all. */
  readonly models?: readonly string[] | null
}

/** The response to a request for a token: the only one with the secret. */
export interface CreatedToken {
  readonly success: true
  /** `token` is the secret. Only this response contains it. */
  readonly token: TokenInfo & { readonly token: string }
}

/** The tokens of the caller. */
export interface TokenList {
  readonly success: true
  readonly tokens: readonly TokenInfo[]
}

/** The routes of `consoleTokens` below its prefix, for Eden. */
export type TokenRoutes = {
  get: ServiceRoute<TokenList, 401 | 429 | 500 | 503>
  post: ServiceRoute<
    CreatedToken,
    400 | 401 | 403 | 408 | 409 | 413 | 415 | 429 | 500 | 503,
    { body: TokenRequest | undefined }
  >
  ':id': {
    delete: ServiceRoute<{ readonly success: true }, 401 | 403 | 404 | 429 | 500 | 503, { params: { id: string } }>
    rotate: {
      post: ServiceRoute<
        CreatedToken,
        400 | 401 | 403 | 404 | 408 | 413 | 415 | 429 | 500 | 503,
        { params: { id: string }; body: { readonly overlap_seconds?: number | null } | undefined }
      >
    }
  }
}

const ownScope = Type.Union([
  ...[Type.Literal('media'), Type.Literal('text'), Type.Literal('video'), Type.Literal('read')],
])
const scope = Type.Union([ownScope, Type.Literal('admin'), Type.Literal('provision')])
const modelsMeaning = 'The models that it may use; * at the end of one stands for any rest. Null: all'

const fields = {
  id: Type.String(),
  label: nullable(Type.String()),
  start: Type.String({ description: 'The first characters of the token' }),
  created_at: Type.String({ description: 'ISO 8601, in UTC' }),
  expires_at: nullable(Type.String(), { description: 'ISO 8601, in UTC. Null: never' }),
  scopes: nullable(Type.Array(scope), {
    description: 'What its holder may do. Null: everything',
  }),
  models: nullable(Type.Array(Type.String()), { description: modelsMeaning }),
  last_used_at: nullable(Type.String(), {
    description: 'ISO 8601, in UTC, a minute late at most. Null: not used yet',
  }),
  has_limits: Type.Boolean({
    description: 'Whether an operator has given it limits of its own: `GET /api/limits?token=` shows them',
  }),
  old_secret_until: Type.Optional(
    nullable(Type.String(), {
      description: 'ISO 8601, in UTC: until when the secret before the last rotation works. Null: it does not',
    }),
  ),
}

const tokenList: SchemaOf<TokenList> = successOf('TokenList', {
  tokens: Type.Array(Type.Object(fields, { title: 'TokenInfo' })),
})

const createdToken: SchemaOf<CreatedToken> = successOf('CreatedToken', {
  token: Type.Object({
    ...fields,
    token: Type.String({ pattern: '^sk-', description: 'The token. Only this response contains it' }),
  }),
})

const tokenRequest: SchemaOf<TokenRequest> = Type.Object(
  {
    label: Type.Optional(nullable(Type.String({ maxLength: 128 }))),
    expires_at: Type.Optional(nullable(Type.String(), { description: 'ISO 8601, with a time zone. Default: never' })),
    scopes: Type.Optional(
      nullable(Type.Array(ownScope, { minItems: 1 }), {
        description: 'What its holder may do. Default: media, text and video',
      }),
    ),
    models: Type.Optional(
      nullable(Type.Array(Type.String({ maxLength: 256 }), { minItems: 1, maxItems: 100 }), {
        description: modelsMeaning,
      }),
    ),
  },
  { title: 'TokenRequest' },
)

const rotation = Type.Object(
  {
    overlap_seconds: Type.Optional(
      nullable(Type.Integer({ minimum: 0, maximum: 604_800 }), {
        description: 'For how long the old secret works. Default 0',
      }),
    ),
  },
  { title: 'TokenRotation' },
)

const route = routesWithTag('API tokens')

/** Elysia options of each route. */
export const tokenDocs = {
  list: route({
    operationId: 'listTokens',
    summary: "List the caller's valid API tokens",
    responses: noStoreResponses('The tokens', tokenList, 401, 429, 500, 503),
  }),
  create: route({
    operationId: 'createToken',
    summary: 'Create an API token',
    requestBody: jsonBody(tokenRequest, false),
    responses: noStoreResponses('The token', createdToken, 400, 401, 403, 408, 409, 413, 415, 429, 500, 503),
  }),
  revoke: route({
    operationId: 'revokeToken',
    summary: "Revoke one of the caller's API tokens",
    parameters: [pathParameter('id', 'Id of the token')],
    responses: noStoreResponses('Revoked', successBody, 401, 403, 404, 429, 500, 503),
  }),
  rotate: route({
    operationId: 'rotateOwnToken',
    summary: "Give one of the caller's API tokens a new secret. Its id stays",
    parameters: [pathParameter('id', 'Id of the token')],
    requestBody: jsonBody(rotation, false),
    responses: noStoreResponses('The token', createdToken, 400, 401, 403, 404, 408, 413, 415, 429, 500, 503),
  }),
}
