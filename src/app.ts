import { Elysia } from 'elysia'
import { createMetrics, type Metrics, metrics } from '../plugins/metrics/index.ts'
import { type Log, Problem, problemBody, renderProblems } from '../plugins/shared/problem.ts'
import { documentation } from './documentation.ts'
import { type GatewayOptions, gateway } from './gateway.ts'
import { type Health, health } from './health.ts'

export interface AppOptions {
  readonly gateway: Omit<GatewayOptions, 'log' | 'observe'>
  readonly health: Omit<Health, 'upstreams'>
  readonly metricsToken: string | undefined
  readonly log: Log
}

/** Answers requests, whatever listens for them. */
export type Handle = (request: Request) => Promise<Response>

/** The default server's app: the gateway, its documentation, and what an operator looks at. */
export const createApp = (options: AppOptions): Handle => {
  const { log } = options
  const counted = createMetrics()
  /** Last status of the asset upstream; 0: it could not be reached. */
  let assets: number | undefined
  const app = bare(log)
    .use(health({ ...options.health, upstreams: () => ({ assets: reachability(options.gateway.kind, assets) }) }))
    .use(metrics({ metrics: counted, token: options.metricsToken }))
    .use(documentation())
    .use(
      gateway({
        ...options.gateway,
        log,
        observe: (call) => {
          assets = call.status
          counted.upstream(call)
        },
      }),
    )
  return measured((request) => app.handle(request), counted, log)
}

/** What is served while the store has not answered yet: health, and the document's 500 for everything else. */
export const createWaitingApp = (
  options: Pick<AppOptions, 'health' | 'log'> & { readonly segment: string },
): Handle => {
  const app = bare(options.log, `${options.segment}_proxy_error`)
    .use(health({ ...options.health, upstreams: () => ({}) }))
    .all('/*', () => {
      throw new Problem(500, 'database is not available')
    })
  return (request) => app.handle(request)
}

/** Elysia finds the path by counting characters, and miscounts behind a short host unless told not to rely on it. */
const bare = (log: Log, type?: string) =>
  new Elysia({ handler: { standardHostname: false } }).onError(renderProblems(problemBody(type), log))

const reachability = (kind: unknown, status: number | undefined): string => {
  if (!kind) return 'not configured'
  if (status === undefined) return 'not asked yet'
  return status === 0 ? 'unreachable' : 'reachable'
}

const measured =
  (handle: Handle, counted: Metrics, log: Log): Handle =>
  async (request) => {
    const startedAt = performance.now()
    const response = await handle(request)
    const seconds = (performance.now() - startedAt) / 1000
    const { method } = request
    counted.request({ method, status: response.status, seconds })
    log.debug({ method, path: pathOf(request.url), status: response.status, seconds }, 'request')
    return response
  }

/** Without the query, which may hold what should not be in a log. */
const pathOf = (url: string): string => url.slice(url.indexOf('/', 8)).split('?', 1)[0] ?? ''
