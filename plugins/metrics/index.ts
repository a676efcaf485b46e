import { type AnyElysia, Elysia } from 'elysia'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { type Awaitable, andThen } from '../shared/awaitable.ts'
import { createErrorHandler, type ErrorsOption } from '../shared/http/error-handler.ts'
import { loggedStatus } from '../shared/http/logged-status.ts'
import { noStoreHeaders } from '../shared/http/no-store.ts'
import { areSecretsEqual } from '../shared/identity/equal-secrets.ts'
import { checkCollaborator, checkPath } from '../shared/plugin/options.ts'
import type { RoutesAt, RoutesPlugin } from '../shared/plugin/plugin.ts'
import { seedOf } from '../shared/plugin/seed.ts'
import { type Log, Problem } from '../shared/problem.ts'
import { type MetricsRoutes, metricsDocs } from './openapi.ts'
import { ObservationBuffer, StatusCounts, TextCounts, type TextTokens } from './requests.ts'

export type { TextTokens } from './requests.ts'

import { type MetricsSnapshot, mergeSnapshots } from './snapshot.ts'
import { createVideoMetrics, type VideoMetrics } from './video-tasks.ts'

export type { MetricsRoutes } from './openapi.ts'
export { type MetricsSnapshot, readSnapshot } from './snapshot.ts'

/** The metrics of one process, and their registry, where a host app can register further metrics. */
export interface Metrics extends VideoMetrics {
  readonly registry: Registry
  /** Counts a response. */
  request(response: { method: string; status: number; seconds: number }): void
  /**
   * Counts a completed upstream call; `status` is 0 without a response. `upstream` is a label, and must come from the
   * configuration. For the option `observe` of `upstream-proxy` and `text-generation`.
   */
  upstream(call: { action: string; upstream?: string; status: number; seconds: number }): void
  /** Adds gauges whose values come from `counts` at each scrape. For `counts` of `concurrency-limits`. */
  inFlight(counts: () => { requests: number; streams: number; bodyBytes: number }): void
  /**
   * Counts a call of text generation: whether the upstream accepted it, its tokens if the upstream reported them, and
   * its cost in billionths.
   */
  text(call: { model: string; accepted: boolean; tokens: TextTokens | undefined; cost?: number | undefined }): void
}

/**
 * Creates the metrics of one process, in a registry of their own.
 *
 * @example
 * const recorder = createMetrics()
 * new Elysia().use(metrics({ metrics: recorder, token: 'a token that nobody guesses' }))
 */
export const createMetrics = (): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  const seconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30]
  const requests = new StatusCounts()
  new Counter({
    name: 'sluice_requests_total',
    help: 'Responses to callers; status 499: the caller disconnected before the response.',
    labelNames: ['method', 'status'],
    registers,
    collect() {
      this.reset()
      for (const { name: method, status, count } of requests.all()) this.inc({ method, status }, count)
    },
  })
  const requestSeconds = new ObservationBuffer((seconds) => histogram.observe(seconds))
  const histogram = new Histogram({
    name: 'sluice_request_seconds',
    help: 'Time until a response started.',
    buckets: seconds,
    registers,
    collect: () => requestSeconds.flush(),
  })
  const calls = new Map<string | undefined, UpstreamCalls>()
  new Counter({
    name: 'sluice_upstream_calls_total',
    help: 'Calls to upstreams; status 0: no response.',
    labelNames: ['upstream', 'action', 'status'],
    registers,
    collect() {
      this.reset()
      for (const [upstream, { counts }] of calls)
        for (const { name: action, status, count } of counts.all())
          this.inc({ ...labelOf(upstream), action, status }, count)
    },
  })
  const callHistogram = new Histogram({
    name: 'sluice_upstream_seconds',
    help: 'Duration of calls to upstreams.',
    labelNames: ['upstream', 'action'],
    buckets: seconds,
    registers,
    collect() {
      for (const { seconds } of calls.values()) for (const durations of seconds.values()) durations.flush()
    },
  })
  const texts = new Map<string, TextCounts>()
  new Counter({
    name: 'sluice_text_calls_total',
    help: 'Calls of text generation; reported: whether the upstream reported tokens.',
    labelNames: ['model', 'reported'],
    registers,
    collect() {
      this.reset()
      for (const [model, { reported, unreported }] of texts) {
        if (reported > 0) this.inc({ model, reported: 'true' }, reported)
        if (unreported > 0) this.inc({ model, reported: 'false' }, unreported)
      }
    },
  })
  new Counter({
    name: 'sluice_text_tokens_total',
    help: 'Tokens of text generation; cached_input is part of input, reasoning is part of output.',
    labelNames: ['model', 'kind'],
    registers,
    collect() {
      this.reset()
      for (const [model, { reported, tokens }] of texts) {
        if (reported > 0) for (const [kind, count] of Object.entries(tokens)) this.inc({ model, kind }, count)
      }
    },
  })
  new Counter({
    name: 'sluice_text_cost_total',
    help: 'Cost of text generation in the currency of the price table. Models without a price are left out.',
    labelNames: ['model'],
    registers,
    collect() {
      this.reset()
      for (const [model, { cost }] of texts) if (cost !== undefined) this.inc({ model }, cost / 1_000_000_000)
    },
  })
  new Gauge({
    name: 'sluice_processes',
    help: 'Processes that serve requests.',
    registers,
    collect() {
      this.set(1)
    },
  })
  const modelLabel = boundedLabel()
  return {
    registry,
    request({ method, status, seconds }) {
      requests.add(methods.has(method) ? method : 'other', status)
      requestSeconds.add(seconds)
    },
    upstream({ action, upstream, status, seconds }) {
      let own = calls.get(upstream)
      if (!own) {
        own = { counts: new StatusCounts(), seconds: new Map() }
        calls.set(upstream, own)
      }
      own.counts.add(action, status)
      let durations = own.seconds.get(action)
      if (!durations) {
        const labels = { ...labelOf(upstream), action }
        durations = new ObservationBuffer((seconds) => callHistogram.observe(labels, seconds))
        own.seconds.set(action, durations)
      }
      durations.add(seconds)
    },
    ...createVideoMetrics(registers),
    inFlight(counts) {
      for (const [name, help, read] of [
        ['sluice_requests_in_flight', 'Requests whose response has not started.', () => counts().requests],
        ['sluice_streams_open', 'Open response streams.', () => counts().streams],
        [
          'sluice_body_bytes_held',
          'Bytes of request bodies and of unread responses in memory.',
          () => counts().bodyBytes,
        ],
      ] as const) {
        new Gauge({
          ...{ name, help, registers },
          collect() {
            this.set(read())
          },
        })
      }
    },
    text({ model: name, accepted, tokens, cost }) {
      const model = modelLabel(name, accepted)
      let counts = texts.get(model)
      if (!counts) {
        counts = new TextCounts()
        texts.set(model, counts)
      }
      counts.add(tokens, cost)
    },
  }
}

/** The calls to one upstream. */
interface UpstreamCalls {
  readonly counts: StatusCounts
  /** By action. */
  readonly seconds: Map<string, ObservationBuffer>
}

/** The label of an upstream. Without a name there is none. */
const labelOf = (upstream: string | undefined) => (upstream === undefined ? {} : { upstream })

/** Methods with a label of their own. Callers can invent others, which would grow the registry without bound. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * Number of models with a label of their own: the first that an upstream has accepted a call for. All others share the
 * label `other`.
 */
const maxModels = 200

/**
 * Model names without control characters, which could break the text format, and without lone surrogates, which would
 * merge different labels.
 */
const plainName = /^[^\p{Cc}\p{Cs}]{1,256}$/u

const boundedLabel = () => {
  const known = new Set<string>()
  return (name: string, accepted: boolean): string => {
    if (known.has(name)) return name
    if (!accepted || known.size === maxModels || !plainName.test(name)) return 'other'
    known.add(name)
    return name
  }
}

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

  const plugin: AnyElysia = new Elysia({ name: 'sluice/metrics', seed: seedOf(options), prefix })
  plugin.get('', async ({ request, set }) => errors.handle({ request, set }, () => respond(request)), metricsDocs)
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
