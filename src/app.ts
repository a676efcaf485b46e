import { type AnyElysia, Elysia } from 'elysia'
import { account } from '../plugins/account/index.ts'
import { admin } from '../plugins/admin/index.ts'
import { assetLibrary } from '../plugins/asset-library/index.ts'
import { concurrencyLimits, type FetchHandler } from '../plugins/concurrency-limits/index.ts'
import { events } from '../plugins/events/index.ts'
import { failureAdvice } from '../plugins/failure-advice/index.ts'
import { createFormUploads, fileStorage, respondWithFile } from '../plugins/file-storage/index.ts'
import { mcp } from '../plugins/mcp/index.ts'
import { createMetrics, type Metrics, metrics, readSnapshot } from '../plugins/metrics/index.ts'
import { noAudit } from '../plugins/shared/audit.ts'
import { andThen } from '../plugins/shared/awaitable.ts'
import { withInertHeaders } from '../plugins/shared/http/headers.ts'
import { requireScope } from '../plugins/shared/identity/require-scope.ts'
import type { AssetUses } from '../plugins/shared/media/asset-uses.ts'
import { Problem, problemBody, renderProblems } from '../plugins/shared/problem.ts'
import { textGeneration } from '../plugins/text-generation/index.ts'
import { nameOf } from '../plugins/text-generation/models/routing.ts'
import { limitRoutes } from '../plugins/usage-limits/index.ts'
import { createVideoService, openaiVideos, type VideoCall, videoGeneration } from '../plugins/video-generation/index.ts'
import { consoleOptions } from './app/console-options.ts'
import { health } from './app/health.ts'
import { home } from './app/home.ts'
import { countDeliveries } from './app/metrics/deliveries.ts'
import { observeServer } from './app/metrics/server.ts'
import type { AppOptions } from './app/options.ts'
import { withRequestIds } from './app/request/id.ts'
import { logPathOf, measured } from './app/request/log.ts'
import { missingPrefixRoutes } from './app/request/missing-prefix.ts'
import { errorType, problemBodies, renderRejection } from './app/request/rejection.ts'
import { createUpstreamStates } from './app/upstreams/states.ts'
import { documentation } from './documentation/index.ts'
import { withObservations } from './operators/admin-options.ts'

/**
 * Creates the app of the default server: the gateway, text generation, accounts, documentation, health and metrics.
 *
 * Each route with a user belongs to a family, whose scope its credential needs: see `requireScope`. People's own routes
 * take sessions, which have no scopes. The admin API checks its two scopes itself.
 */
export const createApp = (options: AppOptions): FetchHandler => {
  const { log, tracing } = options
  const recorder = createMetrics()
  const app = createRoutes(options, recorder)
  const toResponse = renderRejection(options.gateway.segment)
  const limits = concurrencyLimits({
    ...options.limits,
    renderRejection: (problem, { url }) => toResponse(problem, logPathOf(url)),
    exempt: ({ url }) => unlimitedPaths.has(logPathOf(url)),
  })
  recorder.inFlight(limits.counts)
  observeServer(recorder.registry, options)
  options.watchMetrics?.(() => readSnapshot(recorder.registry))
  const handle = measured(
    limits.limited((request) => app.fetch(request)),
    recorder,
    log,
  )
  if (!tracing) return withRequestIds(handle)
  const traced = tracing.traceRequests(handle)
  return withRequestIds((request) => (unlimitedPaths.has(logPathOf(request.url)) ? handle(request) : traced(request)))
}

/** The routes of `createApp`, with nothing around them. */
export const createRoutes = (options: AppOptions, recorder: Metrics): AnyElysia => {
  const { log, audit = noAudit } = options
  const readOwn = () => readSnapshot(recorder.registry)
  const states = createUpstreamStates({
    assets: options.gateway.accounts?.map(({ name }) => name) ?? options.gateway.kind !== undefined,
    texts: options.text.upstreams.map(nameOf),
    video: hasVideos(options.video),
  })
  const observeAssets = ({ action, status, seconds, account }: UpstreamCall & { readonly account?: string }) => {
    states.assets(status, account)
    recorder.upstream({ action, upstream: account, status, seconds })
  }
  const observeText = (call: UpstreamCall & { readonly upstream: string; readonly keyRejected: boolean }) => {
    states.text(call.upstream, call)
    recorder.upstream(call)
  }
  const observeVideo = (call: VideoCall) => {
    states.video(call)
    recorder.upstream({ ...call, upstream: call.account })
  }
  const { segment = 'media' } = options.gateway
  const errors = problemBody(errorType(segment))
  const faceVerificationPath = `/api/${segment}/face-verifications`
  const { tracing, oidc, usageLimits, people } = options
  const traceCall = tracing?.traceCall
  const library = assetLibrary({
    ...options.gateway,
    slots: options.gateway.slots && {
      ...options.gateway.slots,
      observeChange: recorder.assetSlotChange,
      observeCounts: recorder.assetSlots,
    },
    identify: requireScope('media', options.gateway.identify),
    usageLimits,
    ...('videoAssetUses' in options.video.store && { uses: () => service.uses as AssetUses }),
    ...(options.files && { batchFiles: createFormUploads({ ...options.files, usageLimits, log, audit }) }),
    ...{ log, audit, traceCall, observe: observeAssets },
    observeRetry(outcome) {
      states.retry(outcome)
      recorder.retry(outcome)
    },
  })
  const text = textGeneration({
    ...options.text,
    identify: requireScope('text', options.text.identify),
    limits: usageLimits,
    assets: library.assets,
    log,
    audit,
    traceCall,
    observe: observeText,
    observeUsage: recorder.text,
  })
  const videoOptions = {
    ...options.video,
    identify: requireScope('video', options.video.identify),
    usageLimits,
    assets: library.authorizedAssets,
    pictures: library.pictures,
    log,
    audit,
    traceCall,
    observe: observeVideo,
    observeEnd: recorder.videoEnd,
    observeCounts: recorder.videoTasks,
  }
  const service = createVideoService(videoOptions)
  const video = videoGeneration({ ...videoOptions, service })
  const storage = options.files?.storage
  const videos = openaiVideos({
    ...{ ...videoOptions, service },
    ...(storage && { openCopy: (key: string, request: Request) => respondWithFile(request, { storage, key }) }),
  })
  const root = bare().onError(renderProblems(errors, log))
  // First, because it names only routes that are added after it.
  if (tracing) root.use(tracing.plugin)
  const app = root
    .use(
      health({
        ...options.health,
        ...{ upstreams: states.all, circuits: options.circuits?.counts, retries: states.retries },
      }),
    )
    .use(
      metrics({
        ...{
          metrics: recorder,
          token: options.metricsToken,
          readAll: options.shareMetrics?.(readOwn),
          errors,
          log,
        },
        // `measured` below also counts what the concurrency limits reject.
        countRequests: false,
      }),
    )
    .use(documentation())
    .use(home({ publicUrl: people.publicUrl, console: '/console' }))
    .use(library.gateway)
    .use(text)
    .use(missingPrefixRoutes(text))
    .use(missingPrefixRoutes({ routes: videos.routes, config: { prefix: '/v1' } }))
    .use(video)
    .use(videos)
    .use(
      account({
        ...people,
        face: {
          ...people.face,
          prefix: faceVerificationPath,
          ...{ store: people.store, usageLimits },
          ...{ upstream: library.upstream, accountFor: library.accountFor },
        },
        console: consoleOptions(segment, options),
        errors,
        log,
        audit,
      }),
    )
    .use(
      events({
        ...options.events,
        identify: requireScope('media', options.events.identify),
        webhooks: options.events.webhooks && {
          ...options.events.webhooks,
          observe: countDeliveries(recorder.registry),
        },
        ...{ errors, log, audit },
      }),
    )
  app.use(failureAdvice({ errors, log }))
  if (usageLimits) app.use(limitRoutes({ limits: usageLimits, identify: options.events.identify, errors, log }))
  if (oidc) app.use(oidc.create({ errors, log, audit }))
  if (options.admin) app.use(admin({ ...withObservations(options.admin, states, readOwn), errors, log, audit }))
  if (options.files) {
    const identify = requireScope('media', options.files.identify)
    app.use(fileStorage({ ...options.files, identify, usageLimits, errors, log, audit }))
  }
  if (options.mcp) {
    app.use(
      mcp({
        ...options.mcp,
        fetch: (request) => app.fetch(request),
        library: (options.gateway.kind ?? options.gateway.accounts) && `/api/${segment}/proxy`,
        ...(hasVideos(options.video) && { videos: '/api/v3' }),
        uploads: options.files && '/api/uploads',
        ...{ errors, log, audit },
      }),
    )
  }
  return app as AnyElysia
}

const hasVideos = ({ upstream, accounts = [] }: AppOptions['video']): boolean =>
  upstream !== undefined || accounts.some((account) => account.upstream !== undefined)

type UpstreamCall = Parameters<Metrics['upstream']>[0]

/**
 * For monitoring. Operators need these most when the server is overloaded, and do not want to find them among the
 * traces.
 */
const unlimitedPaths: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

/**
 * Creates the app that runs until the database is available and migrated: health, which is not ready, and 500 for every
 * other path, or 503 while the database has no room.
 *
 * @param options.reason the last error of the database
 */
export const createWaitingApp = (
  options: Pick<AppOptions, 'health' | 'log'> & { readonly segment: string; readonly reason: () => unknown },
): FetchHandler => {
  const { segment, reason } = options
  const bodyOf = problemBodies(segment)
  const unavailable = () => new Problem(500, 'database is not available', { cause: reason() })
  const app = bare()
    .onError(renderProblems(problemBody(errorType(segment)), options.log))
    .use(health({ ...options.health, database: () => Promise.reject(unavailable()), upstreams: () => ({}) }))
    .all('/*', ({ path }) => unavailable().toResponse(bodyOf(path)), { parse: 'none' })
  return withRequestIds((request) => andThen<Response, Response>(app.fetch(request), withInertHeaders))
}

/** By default Elysia searches the path from a fixed offset of the URL, which is wrong for a short host name. */
const bare = () => new Elysia({ handler: { standardHostname: false } })
