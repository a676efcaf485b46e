import {
  type SchemaOptions,
  type TLiteral,
  type TNull,
  type TObject,
  type TProperties,
  type TSchema,
  type TUnion,
  type TUnsafe,
  Type,
} from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'

// Routes return a `Response`, and are described beside it: in `detail` for OpenAPI documents, and in the type of the
// plugin for Eden. They have no `response` schema, because Elysia (1.4.30) would compile a validator for each status,
// and copy each response to set its status.

/**
 * A schema of values that have the type `Value`. Declared on a schema, so that the compiler keeps the two in step.
 *
 * The types are not derived from the schemas, because JSR takes no exported types that it would have to infer
 * (https://jsr.io/docs/about-slow-types).
 */
export type SchemaOf<Value> = TSchema & { readonly static: Value }

/** A text that is one of some words. */
export const enumOf = <const Word extends string>(list: readonly Word[], options?: SchemaOptions): TUnsafe<Word> =>
  Type.Unsafe<Word>({ ...options, type: 'string', enum: [...list] })

export const nullable = <Schema extends TSchema>(schema: Schema, options?: SchemaOptions): TUnion<[Schema, TNull]> =>
  Type.Union([schema, Type.Null()], options)

/** The default body of an error, see `problemBody`. */
export interface ErrorBody {
  readonly success: false
  readonly error: {
    readonly message: string
    /** `request_error`, unless the service has its own. */
    readonly type: string
  }
}

/** The body of an error of the upstream, which the caller receives unchanged. The upstream defines its fields. */
export interface UpstreamErrorBody {
  readonly [field: string]: unknown
}

export const errorBody: SchemaOf<ErrorBody> = Type.Object(
  { success: Type.Literal(false), error: Type.Object({ message: Type.String(), type: Type.String() }) },
  { title: 'Error', description: 'An error of this service' },
)

export const upstreamErrorBody: SchemaOf<UpstreamErrorBody> = Type.Unsafe<UpstreamErrorBody>(
  Type.Object({}, { title: 'UpstreamError', description: 'An error of the upstream, unchanged' }),
)

/** A response in an OpenAPI document (https://spec.openapis.org/oas/v3.2.0.html#response-object). */
export interface ResponseDescription {
  readonly description: string
  readonly headers?: Readonly<Record<string, object>>
  readonly content?: Readonly<Record<string, object>>
}

/** A parameter in an OpenAPI document. */
export interface ParameterDescription {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description: string
  readonly schema: TSchema
}

/**
 * The option `detail` of an Elysia route. The security of a route is for the app that uses the plugin to describe,
 * unless the route needs none.
 */
export interface OperationDescription {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: string[]
  readonly security?: []
  readonly parameters?: readonly ParameterDescription[]
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, object>> }
  readonly responses: Readonly<Record<string, ResponseDescription>>
}

/** The Elysia options of a route that reads its body itself. */
export interface RouteOptions {
  readonly parse: 'none'
  readonly detail: DocumentDecoration
}

export const routeOptions = (operation: OperationDescription): RouteOptions => ({
  parse: 'none',
  // Elysia's type is that of OpenAPI 3.0, with mutable members.
  detail: operation as unknown as DocumentDecoration,
})

/** Describes routes that have one tag. */
export const routesWithTag =
  (tag: string) =>
  (operation: Omit<OperationDescription, 'tags'>): RouteOptions =>
    routeOptions({ ...operation, tags: [tag] })

export const jsonContent = (schema: TSchema) => ({ 'application/json': { schema } })

export const jsonResponse = (
  description: string,
  schema: TSchema,
  headers?: ResponseDescription['headers'],
): ResponseDescription => ({ description, ...(headers && { headers }), content: jsonContent(schema) })

export const jsonBody = (schema: TSchema, required = true) => ({ required, content: jsonContent(schema) })

export const pathParameter = (name: string, description: string): ParameterDescription => ({
  ...{ name, in: 'path', required: true, description },
  schema: Type.String(),
})

export const queryParameter = (
  name: string,
  description: string,
  schema: TSchema = Type.String(),
): ParameterDescription => ({
  ...{ name, in: 'query', required: false, description, schema },
})

/**
 * The header of a request that must be handled once
 * (https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/).
 */
export const idempotencyKeyParameter: ParameterDescription = {
  ...{ name: 'Idempotency-Key', in: 'header', required: false },
  description:
    'A text that you choose for this creation, for example a UUID. A repetition with the same key and the same body, within 24 hours, creates nothing, and gets the response of the first request',
  schema: Type.String({ minLength: 1, maxLength: 255, pattern: '^[!-~]+$' }),
}

/** The header of a response to a repetition. */
export const replayedHeaders = {
  'idempotent-replayed': {
    description: 'The response is that of an earlier request with the same Idempotency-Key',
    schema: Type.Literal('true'),
  },
}

/** The header of responses that personal data or a secret makes uncacheable. */
export const noStoreHeader = {
  'cache-control': { description: 'Always `no-store`', required: true, schema: Type.Literal('no-store') },
}

const retryAfter = { 'retry-after': { description: 'Seconds to wait', schema: Type.Integer({ minimum: 0 }) } }
/** Absent where no time helps: the limit is on what exists, or for ever. */
const optionalRetryAfter = { 'retry-after': { ...retryAfter['retry-after'], required: false } }

/** What an error of each status means, and its headers. An error of the upstream may come without them. */
const errors = {
  400: { description: 'The request is not valid' },
  401: {
    description: 'The caller is not authenticated',
    headers: { 'www-authenticate': { description: 'The scheme', schema: Type.Literal('Bearer') } },
  },
  403: { description: 'The caller may not do this' },
  404: { description: 'Not found' },
  408: { description: 'The request body did not arrive in time' },
  409: { description: 'The request conflicts with the present state' },
  413: { description: 'The request body is too large' },
  415: {
    description: 'The content type of the request is not application/json, or its content encoding is not accepted',
  },
  426: {
    description: 'The route is not available over this protocol',
    headers: { upgrade: { description: 'The protocol to use', schema: Type.String() } },
  },
  429: {
    description: 'Too many requests: of this caller, or of all callers to the upstream',
    headers: optionalRetryAfter,
  },
  500: { description: 'Internal error, for example of the database' },
  502: { description: 'The upstream is unavailable, or its response is invalid' },
  503: { description: 'The server is busy', headers: retryAfter },
} as const satisfies Readonly<Record<number, Omit<ResponseDescription, 'content'>>>

export type ErrorStatus = keyof typeof errors

/** The responses with these statuses, in an OpenAPI document. */
export const errorResponses = (schema: TSchema, ...statuses: readonly ErrorStatus[]) =>
  Object.fromEntries(statuses.map((status) => [status, { ...errors[status], content: jsonContent(schema) }]))

/** The responses of a route whose body must not be cached: 200, and errors of the service with these statuses. */
export const noStoreResponses = (description: string, schema: TSchema, ...statuses: readonly ErrorStatus[]) => ({
  200: jsonResponse(description, schema, noStoreHeader),
  ...errorResponses(errorBody, ...statuses),
})

/** The body of a success: an object with these members. */
export const successOf = <Members extends TProperties>(
  title: string,
  members: Members,
): TObject<{ success: TLiteral<true> } & Members> => Type.Object({ success: Type.Literal(true), ...members }, { title })

/** The body of a change that shows nothing. */
export const successBody = successOf('Success', {})

/** Also describes all other errors of an upstream that a route forwards: any status, and any body. */
export const forwardedErrors = (schema: TSchema, ...statuses: readonly ErrorStatus[]) => ({
  ...errorResponses(Type.Union([schema, upstreamErrorBody], { title: `Forwarded${schema.title}` }), ...statuses),
  default: {
    description: 'Any other error of the upstream: its status, body and content type, unchanged',
    content: { '*/*': {} },
  },
})
