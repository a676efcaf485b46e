import { Elysia } from 'elysia'
import { type ConcurrencyLimitsOptions, concurrencyLimits } from '../plugins/concurrency-limits/index.ts'
import { createMetrics, type Metrics, metrics } from '../plugins/metrics/index.ts'
import { type Audit, noAudit } from '../plugins/shared/audit.ts'
import { type Awaitable, andThen } from '../plugins/shared/awaitable.ts'
import { inert } from '../plugins/shared/headers.ts'
import { Problem, problemBody, renderProblems } from '../plugins/shared/problem.ts'
import { type TextGenerationOptions, textGeneration, textProblemBody } from '../plugins/text-generation/index.ts'
import { type AccountOptions, account } from './account.ts'
import { documentation } from './documentation.ts'
import { assetLibrary, type GatewayOptions } from './gateway.ts'
import { type Health, health } from './health.ts'
import type { LeveledLog } from './log.ts'

export interface AppOptions {
  readonly gateway: Omit<GatewayOptions, 'log' | 'audit' | 'observe'>
  readonly text: Omit<TextGenerationOptions, 'assets' | 'log' | 'audit' | 'observe' | 'observeUsage'>
  readonly people: Omit<AccountOptions, 'segment' | 'log' | 'audit' | 'face'> & {
    readonly face: Omit<AccountOptions['face'], 'upstream'>
  }
  readonly health: Omit<Health, 'upstreams'>
  /** What may be in flight at once. */
  readonly limits: Omit<ConcurrencyLimitsOptions, 'refuse' | 'exempt'>
  readonly metricsToken: string | undefined
  readonly log: LeveledLog
  /** Default: nobody is told of anything. */
  readonly audit?: Audit
}

/** Answers requests, whatever listens for them. */
export type Handle = (request: Request) => Awaitable<Response>

/** The default server's app: the gateway, its documentation, and what an operator looks at. */
export const createApp = (options: AppOptions): Handle => {
  const { log, audit = noAudit } = options
  const counted = createMetrics()
  /** Last status of each upstream; 0: it could not be reached. */
  const last: { assets?: number; text?: number } = {}
  const observing = (upstream: keyof typeof last) => (call: Parameters<Metrics['upstream']>[0]) => {
    last[upstream] = call.status
    counted.upstream(call)
  }
  const upstreams = () => ({
    assets: reachability(options.gateway.kind !== undefined, last.assets),
    text: reachability(options.text.upstreams.length > 0, last.text),
  })
  const library = assetLibrary({ ...options.gateway, log, audit, observe: observing('assets') })
  const app = bare()
    .use(health({ ...options.health, upstreams }))
    .use(metrics({ metrics: counted, token: options.metricsToken }))
    .use(documentation())
    .use(library.gateway)
    .use(
      textGeneration({
        ...options.text,
        assets: library.assets,
        log,
        audit,
        observe: observing('text'),
        observeUsage: counted.text,
      }),
    )
    .use(
      account({
        ...options.people,
        face: { ...options.people.face, upstream: library.upstream },
        segment: options.gateway.segment,
        log,
        audit,
      }),
    )
    // Last: a hook is for what comes after it, and every plugin has its own shape of errors.
    .onError(renderProblems(problemBody(errorType(options.gateway.segment)), log, audit))
  const refuse = refusalIn(options.gateway.segment)
  const limits = concurrencyLimits({
    ...options.limits,
    refuse: (problem, { url }) => refuse(problem, pathOf(url)),
    exempt: ({ url }) => unlimited.has(pathOf(url)),
  })
  counted.inFlight(limits.counts)
  return measured(
    limits.limited((request) => app.fetch(request)),
    counted,
    log,
  )
}

/** What an operator looks at when there is too much of everything else. */
const unlimited: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

/** What is served while the store has not answered yet: health, and the document's 500 for everything else. */
export const createWaitingApp = (
  options: Pick<AppOptions, 'health' | 'log'> & { readonly segment: string },
): Handle => {
  const app = bare()
    .onError(renderProblems(problemBody(errorType(options.segment)), options.log))
    .use(health({ ...options.health, upstreams: () => ({}) }))
    .all('/v1/*', () => unavailable.toResponse(textProblemBody), { parse: 'none' })
    .all(
      '/*',
      () => {
        throw unavailable
      },
      { parse: 'none' },
    )
  return (request) => andThen<Response, Response>(app.fetch(request), inert)
}

/** A refusal in the shape of the part of the server that was asked. */
export const refusalIn =
  (segment?: string) =>
  (problem: Problem, target: string): Response =>
    inert(problem.toResponse(/^\/v1(?:[/?]|$)/.test(target) ? textProblemBody : problemBody(errorType(segment))))

const unavailable = new Problem(500, 'database is not available')

/** Elysia finds the path by counting characters, and miscounts behind a short host unless told not to rely on it. */
const bare = () => new Elysia({ handler: { standardHostname: false } })

const errorType = (segment = 'media'): string => `${segment}_proxy_error`

const reachability = (configured: boolean, status: number | undefined): string => {
  if (!configured) return 'not configured'
  if (status === undefined) return 'not asked yet'
  return status === 0 ? 'unreachable' : 'reachable'
}

const measured = (handle: Handle, counted: Metrics, log: LeveledLog): Handle => {
  const logged = log.isLevelEnabled?.('debug') ?? true
  return (request) => {
    const startedAt = performance.now()
    return andThen(handle(request), (response) => {
      const seconds = (performance.now() - startedAt) / 1000
      const { method } = request
      const { status } = response
      counted.request({ method, status, seconds })
      if (logged) log.debug({ method, path: pathOf(request.url), status, seconds }, 'request')
      return inert(response)
    })
  }
}

/** Without what should not be in a log: the query, and the state in a callback's address. */
const pathOf = (url: string): string =>
  (url.slice(url.indexOf('/', 8)).split('?', 1)[0] ?? '').replace(/(\/face-verifications\/callback\/).*/, '$1…')
