import { Type } from '@sinclair/typebox'
import {
  noStoreResponses,
  nullable,
  queryParameter,
  type RouteOptions,
  routeOptions,
  type SchemaOf,
  successOf,
} from '../shared/plugin/openapi.ts'
import type { ServiceRoute } from '../shared/plugin/plugin.ts'
import type { UsageCountsView } from '../shared/usage-counts.ts'

/** Calls, tokens and video seconds of the caller on one day, with one API token and one model. */
export interface UsageRow extends UsageCountsView {
  /** UTC day, for example `2026-01-31`. */
  readonly day: string
  /** The API token; null if the caller used none. Its label is null if it has none. */
  readonly token: { readonly id: string; readonly label: string | null; readonly start: string | null } | null
  readonly model: string
}

/** The response of the usage route: newest day first. */
export interface UsageReport {
  readonly success: true
  readonly usage: readonly UsageRow[]
}

/** The usage route of `account` below its prefix, for Eden. */
export type UsageRoutes = {
  usage: {
    get: ServiceRoute<
      UsageReport,
      400 | 401 | 429 | 500 | 503,
      { query: { readonly since?: string; readonly until?: string } }
    >
  }
}

const count = Type.Integer({ minimum: 0 })
const nullableText = nullable(Type.String())

const usageReport: SchemaOf<UsageReport> = successOf('UsageReport', {
  usage: Type.Array(
    Type.Object(
      {
        day: Type.String({ format: 'date' }),
        token: Type.Union([
          Type.Object({ id: Type.String(), label: nullableText, start: nullableText }),
          Type.Null({ description: 'The caller used no API token' }),
        ]),
        model: Type.String(),
        calls: count,
        unreported: Type.Integer({
          minimum: 0,
          description: 'Calls for which the upstream has reported no tokens',
        }),
        input_tokens: count,
        cached_tokens: Type.Integer({ minimum: 0, description: 'Part of input_tokens' }),
        output_tokens: count,
        reasoning_tokens: Type.Integer({ minimum: 0, description: 'Part of output_tokens' }),
        video_seconds: nullable(Type.Number({ minimum: 0 }), {
          description: 'Seconds of generated videos. Null: the model has made none',
        }),
        cost: nullable(Type.Number({ minimum: 0 }), {
          description: "In the currency of the operator's price table. Null: no call had a price",
        }),
      },
      { title: 'UsageRow' },
    ),
  ),
})

const day = Type.String({ format: 'date' })

/** Elysia options of the usage route. */
export const usageDocs: RouteOptions = routeOptions({
  operationId: 'listUsage',
  summary: "List the caller's usage by day, API token and model",
  tags: ['usage'],
  parameters: [
    queryParameter('since', 'The first day, in UTC', day),
    queryParameter('until', 'The last day, in UTC', day),
  ],
  responses: noStoreResponses('The usage, newest day first', usageReport, 400, 401, 429, 500, 503),
})
