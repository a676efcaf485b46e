import { Type } from '@sinclair/typebox'
import {
  enumOf,
  noStoreResponses,
  nullable,
  queryParameter,
  type RouteOptions,
  routeOptions,
  type SchemaOf,
  successOf,
} from '../shared/plugin/openapi.ts'
import type { ServiceRoute } from '../shared/plugin/plugin.ts'
import { consumedUnits, existingUnits, limitWindows } from './limit.ts'
import type { LimitReport } from './usage-limits.ts'

/** The response of the limits route. */
export interface LimitList {
  readonly success: true
  readonly limits: readonly LimitReport[]
}

/** The limits route below its prefix, for Eden. */
export type LimitRoutes = {
  get: ServiceRoute<LimitList, 401 | 429 | 500 | 503, { query: { readonly token?: string } }>
}

const amount = (description: string) => Type.Number({ minimum: 0, description })

const limitList: SchemaOf<LimitList> = successOf('LimitList', {
  limits: Type.Array(
    Type.Object(
      {
        subject: Type.Object({
          type: enumOf(['account', 'team', 'user', 'token'], { description: 'Whose limit it is' }),
          id: Type.String(),
          name: Type.String({ description: 'Name of the team or user, label of the token, or the id' }),
        }),
        unit: enumOf([...consumedUnits, ...existingUnits], { description: 'What is counted' }),
        window: nullable(enumOf(limitWindows, { description: 'Null: for ever, or at once' })),
        model: nullable(Type.String({ description: 'The model, or the start of its name with * at its end' })),
        amount: amount('Cost is in currency units'),
        used: amount('In the present window, or what exists'),
        reserved: amount('What calls in progress hold'),
        remaining: amount('What is left'),
        resets_at: nullable(Type.String({ format: 'date-time' })),
      },
      { title: 'Limit' },
    ),
  ),
})

/** Elysia options of the limits route. */
export const limitDocs: RouteOptions = routeOptions({
  operationId: 'listLimits',
  summary: "List the caller's limits, with what is used and left of each",
  tags: ['usage'],
  parameters: [
    queryParameter('token', "With a session: id of one of the caller's tokens, whose limits are listed too"),
  ],
  responses: noStoreResponses(
    'The limits of the account, the team, the user and the token',
    limitList,
    401,
    429,
    500,
    503,
  ),
})
