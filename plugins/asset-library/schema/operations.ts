import { Type } from '@sinclair/typebox'
import {
  errorBody,
  forwardedErrors,
  jsonResponse,
  type OperationDescription,
  queryParameter,
  type ResponseDescription,
  type RouteOptions,
  routeOptions,
  type SchemaOf,
} from '../../shared/plugin/openapi.ts'
import type { LibraryResult } from './types.ts'

export const pageSize = Type.Integer({ minimum: 1, maximum: 100, default: 10 })

export const keysetParameters = [
  queryParameter('NextToken', 'NextToken of the page before'),
  queryParameter('MaxResults', 'Items on a page', pageSize),
]

export const result = <Value>(description: string, schema: SchemaOf<Value>): ResponseDescription => {
  const body: SchemaOf<LibraryResult<Value>> = Type.Unsafe<LibraryResult<Value>>(Type.Object({ Result: schema }))
  return jsonResponse(description, body)
}

const errors = forwardedErrors(errorBody, 400, 401, 403, 404, 408, 413, 415, 429, 500, 502, 503)

/** What the creations add: they honor `Idempotency-Key`. */
export const createErrors = forwardedErrors(errorBody, 400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 502, 503)

export const libraryOperation = (
  operationId: string,
  summary: string,
  success: OperationDescription['responses'],
  { responses: _, ...more }: Partial<OperationDescription> = {},
): RouteOptions =>
  routeOptions({ operationId, summary, tags: ['asset library'], ...more, responses: { ...success, ...errors } })
