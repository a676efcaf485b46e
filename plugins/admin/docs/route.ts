import { type TSchema, Type } from '@sinclair/typebox'
import {
  errorBody,
  errorResponses,
  jsonContent,
  jsonResponse,
  noStoreHeader,
  type OperationDescription,
  type ResponseDescription,
  type RouteOptions,
  replayedHeaders,
  routeOptions,
  successBody,
} from '../../shared/plugin/openapi.ts'
import { cursorSchema } from './schemas.ts'

/** Statuses of the errors of a route that reads. */
export type ReadErrors = 400 | 401 | 403 | 404 | 429 | 500 | 503
/** Statuses of the errors of a route that changes something. */
export type WriteErrors = 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 429 | 500 | 503

/** The response to a change that shows nothing. */
export interface Done {
  readonly success: true
}

/** A page of a list. */
export type ListPage<Name extends string, View> = {
  readonly success: true
  /** For the next page. Null: this is the last one. */
  readonly next_cursor: string | null
} & { readonly [Key in Name]: readonly View[] }

export const done = successBody

/** A page of a list. */
export const listOf = (name: string, schema: TSchema): TSchema =>
  Type.Object(
    { success: Type.Literal(true), [name]: Type.Array(schema), next_cursor: cursorSchema },
    { title: `${schema.title}Page` },
  )

/** One object by its name. */
export const objectOf = (name: string, schema: TSchema): TSchema =>
  Type.Object({ success: Type.Literal(true), [name]: schema })

/** The response of a create that a client may repeat. */
export interface CreatedSchema {
  readonly created: TSchema
}

export const createdOnce = (schema: TSchema): CreatedSchema => ({ created: schema })

interface AdminOperation extends Omit<OperationDescription, 'tags' | 'responses'> {
  readonly success: TSchema | CreatedSchema
  /** The same as CSV. */
  readonly csv?: boolean
  /** Whether a route that reads may also respond with 409. */
  readonly conflicts?: boolean
}

const csvContent = { 'text/csv': { schema: Type.String() } }

/** Elysia options of a route. */
export const route = (
  kind: 'read' | 'write',
  { success, csv = false, conflicts = false, ...operation }: AdminOperation,
): RouteOptions =>
  routeOptions({
    ...operation,
    tags: ['administration'],
    responses: {
      200: responseOf(success, csv),
      ...(kind === 'read'
        ? errorResponses(errorBody, 400, 401, 403, 404, ...(conflicts ? [409 as const] : []), 429, 500, 503)
        : errorResponses(errorBody, 400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 503)),
    },
  })

const responseOf = (success: TSchema | CreatedSchema, csv: boolean): ResponseDescription => {
  if ('created' in success)
    return jsonResponse('Created', (success as CreatedSchema).created, { ...noStoreHeader, ...replayedHeaders })
  const schema = success as TSchema
  if (!csv) return jsonResponse('Success', schema, noStoreHeader)
  return { description: 'Success', headers: noStoreHeader, content: { ...jsonContent(schema), ...csvContent } }
}
