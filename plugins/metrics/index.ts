import { type AnyElysia, Elysia } from 'elysia'
import { type Awaitable, andThen } from '../shared/awaitable.ts'
import { loggedStatus } from '../shared/http/disconnection.ts'
import { createErrorHandler, type ErrorsOption, routesOf } from '../shared/http/error-handler.ts'
import { noStoreHeaders } from '../shared/http/no-store.ts'
import { areSecretsEqual } from '../shared/identity/equal-secrets.ts'
import { checkCollaborator, checkPath } from '../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { type Log, Problem } from '../shared/problem.ts'
import { type MetricsRoutes, metricsDocs } from './openapi.ts'
import type { Metrics } from './recorder.ts'

export type { TextTokens } from './requests.ts'

import { type MetricsSnapshot, mergeSnapshots } from './snapshot.ts'

export type { MetricsRoutes } from './openapi.ts'
export { createMetrics, type Metrics } from './recorder.ts'
export { type MetricsSnapshot, readSnapshot } from './snapshot.ts'

/** Options of `metrics`. */
export interface MetricsOptions {
  readonly metrics: Metrics
  /** Bearer token of the route. If undefined, the route responds with 404. */
  readonly token: string | undefined
  /** Path of the route. Default `/metrics`. */
  readonly prefix?: string
  /**
   * Whether the plugin counts the requests of the app. Default true.
   *
   * False: the host calls `metrics.request` itself, for example in front of the app, where requests are rejected before
   * the app sees them.
   */
  readonly countRequests?: boolean
  /**
   * Reads the metrics of all processes of a server, those of this process included: the route responds with their sum.
   * Called once for each scrape. Default: the route responds with the metrics of this process.
   */
  readonly readAll?: () => Promise<readonly MetricsSnapshot[]>
  /** The JSON body of errors; `throw`: errors go to the `onError` of the host app. Default: `problemBody()`. */
  readonly errors?: ErrorsOption
  readonly log?: Log
}

/**
 * An Elysia plugin that counts all requests of the app that uses it, and serves the metrics in the Prometheus text
 * format.
 *
 * It counts the requests of the whole app, wherever it is used: also routes before it, and unknown paths. The route
 * responds with 401 without the token, 404 if no token is configured, and 503 if `readAll` rejects. Throws TypeError
 * for a wrong `prefix`, an empty token, and without `metrics`.
 *
 * @example
 * new Elysia().use(metrics({ metrics: createMetrics(), token: 'a token that nobody guesses' }))
 */
export const metrics = <const Prefix extends string = '/metrics'>(
  options: MetricsOptions & { readonly prefix?: Prefix },
): RoutesPlugin<RoutesAt<Prefix, MetricsRoutes>> => {
  const { metrics, token, readAll, countRequests = true } = options
  checkCollaborator('metrics', metrics)
  if (token === '') throw new TypeError('token must not be empty')
  const prefix = checkPath('prefix', options.prefix ?? '/metrics')
  const errors = createErrorHandler(options)

  const respond = async (request: Request): Promise<Response> => {
    if (token === undefined) throw new Problem(404, 'not found')
    const given = /^bearer +(.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
    if (given === undefined || !areSecretsEqual(given, token)) {
      throw new Problem(401, 'not authenticated', { headers: { 'www-authenticate': 'Bearer' } })
    }
    const registry = readAll ? mergeSnapshots(await readAll().catch(unavailable)) : metrics.registry
    return new Response(await registry.metrics(), {
      headers: { 'content-type': metrics.registry.contentType, ...noStoreHeaders },
    })
  }

  const plugin: AnyElysia = new Elysia({ name: 'sluice/metrics', seed: seedOf(options), prefix }).get(
    '',
    routesOf(errors)(respond),
    metricsDocs,
  )
  // `wrap` and not a hook: a hook applies only to routes that are added later, and costs each of them a call.
  if (countRequests) plugin.wrap((handle) => counting(handle as unknown as FetchHandler, metrics))
  return plugin
}

type FetchHandler = (request: Request) => Awaitable<Response | undefined>

/** Counts the responses of a handler. An upgraded connection has none. */
const counting =
  (handle: FetchHandler, { request: count }: Metrics): FetchHandler =>
  (request) => {
    const startedAt = performance.now()
    const counted = (response: Response | undefined) => {
      const seconds = (performance.now() - startedAt) / 1000
      if (response) count({ method: request.method, status: loggedStatus(request, response), seconds })
      return response
    }
    return andThen(handle(request), counted)
  }

/**
 * A part of the sum would look like a restart to Prometheus, so there is no response without the metrics of all
 * processes.
 */
const unavailable = (cause: unknown): never => {
  throw new Problem(503, 'the metrics of all processes are not available', { cause })
}
