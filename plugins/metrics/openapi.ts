import { Type } from '@sinclair/typebox'
import { type ErrorBody, errorBody, errorResponses, type RouteOptions, routeOptions } from '../shared/plugin/openapi.ts'
import type { Responses, Route } from '../shared/plugin/plugin.ts'

/** The route of `metrics` below its prefix, for Eden. */
export type MetricsRoutes = { get: Route<Responses<string, ErrorBody, 401 | 404 | 503>> }

const { 503: unavailable, ...errors } = errorResponses(errorBody, 401, 404, 503)

/** Elysia options of the route. */
export const metricsDocs: RouteOptions = routeOptions({
  operationId: 'readMetrics',
  summary: 'Read the metrics',
  tags: ['operation'],
  responses: {
    200: {
      description: 'The metrics in the text format of Prometheus',
      content: { 'text/plain': { schema: Type.String() } },
    },
    ...errors,
    503: { ...unavailable, description: 'The metrics of all processes are not available', headers: {} },
  },
})
