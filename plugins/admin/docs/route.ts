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
import type { RouteParts, ServiceRoute } from '../../shared/plugin/plugin.ts'
import { cursorSchema } from './schemas.ts'

type ReadErrors = 400 | 401 | 403 | 404 | 429 | 500 | 503
type WriteErrors = ReadErrors | 408 | 409 | 413 | 415

/** A route that reads, for Eden. `More`: statuses of further errors. */
export type ReadRoute<
  Success,
  Parts extends RouteParts = Record<never, never>,
  More extends number = never,
> = ServiceRoute<Success, ReadErrors | More, Parts>

/** A route that changes something, for Eden. */
export type WriteRoute<Success, Parts extends RouteParts> = ServiceRoute<Success, WriteErrors, Parts>

/** The parts of a route whose path has the id of an object. */
export type WithId = { params: { id: string } }

/** The response to a change that shows nothing. */
export interface Done {
  readonly success: true
}

/** An object by its name. */
export type One<Name extends string, View> = { readonly success: true } & { readonly [Key in Name]: View }

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
