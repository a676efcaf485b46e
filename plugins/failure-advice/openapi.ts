import { Type } from '@sinclair/typebox'
import {
  enumOf,
  errorBody,
  errorResponses,
  jsonResponse,
  nullable,
  pathParameter,
  queryParameter,
  type RouteOptions,
  routeOptions,
  type SchemaOf,
} from '../shared/plugin/openapi.ts'
import type { ServiceRoute } from '../shared/plugin/plugin.ts'
import { type FailureAdvice, failureChanges } from './entry.ts'

/** The response of the list. */
export interface FailureAdviceList {
  readonly success: true
  readonly advice: readonly FailureAdvice[]
}

/** The response for one code. */
export interface FailureAdviceOfCode {
  readonly success: true
  readonly advice: FailureAdvice
}

/** The routes of `failureAdvice` below its prefix, for Eden. */
export type FailureAdviceRoutes = {
  get: ServiceRoute<FailureAdviceList, 500>
  ':code': {
    get: ServiceRoute<FailureAdviceOfCode, 404 | 500, { params: { code: string }; query: { message?: string } }>
  }
}

/** Schema of the advice for one code. */
export const adviceSchema: SchemaOf<FailureAdvice> = Type.Object(
  {
    code: Type.String({ description: 'The code, or the part of it before a dot that has an entry' }),
    retry: Type.Boolean({ description: 'Whether the same request may succeed later' }),
    retry_after: nullable(Type.Integer({ description: 'Seconds to wait before another try' })),
    change: nullable(enumOf(failureChanges, { description: 'What to change before another try' })),
    by: enumOf(['caller', 'operator', 'vendor'], { description: 'Who can remove the cause' }),
    text: Type.Object({ en: Type.String(), zh: Type.String() }, { description: 'For a person' }),
  },
  { title: 'FailureAdvice' },
)

const success = Type.Literal(true)
const list: SchemaOf<FailureAdviceList> = Type.Object(
  { success, advice: Type.Array(adviceSchema) },
  { title: 'FailureAdviceList' },
)
const one: SchemaOf<FailureAdviceOfCode> = Type.Object(
  { success, advice: adviceSchema },
  { title: 'FailureAdviceOfCode' },
)

/** Elysia options of the list. */
export const listDocs: RouteOptions = routeOptions({
  operationId: 'listFailureAdvice',
  summary: "List the vendor's error codes, with what to do about each",
  tags: ['operation'],
  security: [],
  responses: { 200: jsonResponse('The list', list), ...errorResponses(errorBody, 500) },
})

/** Elysia options of the route for one code. */
export const codeDocs: RouteOptions = routeOptions({
  operationId: 'findFailureAdvice',
  summary: "Say what to do about an error code of the vendor's",
  tags: ['operation'],
  security: [],
  parameters: [
    pathParameter('code', 'A code of an error, a failed task or a failed asset'),
    queryParameter('message', "The vendor's message: some codes mean several things"),
  ],
  responses: { 200: jsonResponse('What to do', one), ...errorResponses(errorBody, 404, 500) },
})
