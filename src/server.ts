import { identifyByToken } from '../plugins/api-token/index.ts'
import { maxUploadBodyBytes, type Storage } from '../plugins/file-storage/index.ts'
import { RevisionClock } from '../plugins/ownership/index.ts'
import type { Audit } from '../plugins/shared/audit.ts'
import { Background } from '../plugins/shared/background/background.ts'
import { systemClock } from '../plugins/shared/clock.ts'
import {
  type ClientAddressOf,
  createClientAddressOf,
  createIsTrustedPeer,
} from '../plugins/shared/http/client-address.ts'
import { createCircuitBreakers } from '../plugins/shared/upstream/circuit-breaker.ts'
import { fetchOnce, fetchPooledPost } from '../plugins/shared/upstream/fetch.ts'
import { type UsageLimits, usageLimits } from '../plugins/usage-limits/index.ts'
import { identifyBySession } from '../plugins/web-session/index.ts'
import { withCors } from './app/cors.ts'
import { createCallbackCheck, eventOptions } from './app/event-options.ts'
import { openFiles } from './app/files.ts'
import { identifyByEither, sessionsOfSameOrigin } from './app/identify.ts'
import { openOidcLogin } from './app/oidc-login.ts'
import { openStorage } from './app/storage.ts'
import { type AppOptions, createApp, createWaitingApp, type FetchHandler } from './app.ts'
import { createAudit } from './audit/index.ts'
import { createMediaKind } from './config/media-upstream.ts'
import { type Config, configFromEnvironment } from './config.ts'
import { createLog, type LeveledLog, startLog } from './log.ts'
import { adminOptions } from './operators/admin-options.ts'
import { keepMetricHistory } from './operators/metric-history.ts'
import { type DenoPermissions, workerFlags } from './server/deno-flags.ts'
import { freePort } from './server/free-port.ts'
import { listenBun, listenNode } from './server/listen.ts'
import { ignoreNewConnections } from './server/new-connections.ts'
import { stopOnSignal } from './server/stop-on-signal.ts'
import { expectNoArguments, serverUsage } from './server/usage.ts'
import { openStore, type Store } from './store/index.ts'
import { startTracing } from './tracing.ts'
import { connectToSupervisor } from './workers/metrics.ts'
import { startWorkers } from './workers.ts'

const { Deno } = globalThis as { Deno?: { readonly permissions: DenoPermissions } }

/** A server that `serve` has started. */
export interface RunningServer {
  /** `http://HOST:PORT` with the actual port. */
  readonly url: string
  /**
   * Reports at once that it is not ready. Stops accepting connections after `config.http.drainGraceMs`, waits for
   * requests in flight and for work in the background, at most `config.http.drainMs`, and then closes all connections
   * and the store.
   */
  stop(): Promise<void>
}

/**
 * Starts the default server in this process.
 *
 * @param shared whether other processes listen on the same port
 */
export const serve = async (config: Config, { shared = false } = {}): Promise<RunningServer> => {
  const log = startLog({ level: config.logLevel, secrets: config.secrets })
  const tracing =
    config.traces &&
    (await startTracing(config.traces, { isTrusted: createIsTrustedPeer(config.http.trustedProxies), log }))
  const store = openStore(config.store.url, { log, auditKeys: config.audit.keys })
  const background = new Background()
  let draining = false
  const addressOf = createClientAddressOf(config.http.trustedProxies)
  const audit = createAudit({ store, keepMs: config.audit.keepMs, addressOf, background, log })
  const storage = config.storage && openStorage(config.storage)
  const health = { database: () => store.ready(), storage: storage?.check, draining: () => draining }
  const revisionClock = new RevisionClock((since) => store.revision(since))
  const limits = usageLimits({ ...config.usageLimits, store: store.limits, revisionClock, log })

  /** Set when the server listens: the port may be chosen by the system. */
  let url = ''
  const publicUrl = () => config.http.publicUrl ?? url

  const open = async (): Promise<FetchHandler> => {
    await store.migrate()
    const shareMetrics: AppOptions['shareMetrics'] =
      shared && process.connected ? (own) => connectToSupervisor(process, own) : undefined
    return openApp(config, store, {
      ...{ health, publicUrl, addressOf, background, revisionClock, usageLimits: limits },
      ...{ shareMetrics, tracing, log, audit, storage: storage?.storage },
    })
  }
  let handle: FetchHandler = await open().catch((err: unknown) => {
    log.error({ err }, 'the database is not available; the server tries again every second')
    let reason = err
    const onFailure = (error: unknown) => {
      reason = error
    }
    void background.run(async (signal) => {
      while (!signal.aborted) {
        await background.sleep(1000, signal)
        const opened = await open().catch(onFailure)
        if (!opened) continue
        handle = opened
        return
      }
    })
    return createWaitingApp({ health, log, segment: config.media.segment, reason: () => reason })
  })

  const prefixes = ['/v1', '/api/v3', `/api/${config.media.segment}/proxy`]
  const handleCors = withCors((request) => handle(request), { origins: config.http.corsOrigins, prefixes })
  const listening = await (config.http.getBodies || Deno ? listenNode : listenBun)(handleCors, {
    http: config.http,
    media: config.media,
    log,
    longestBodyBytes: Math.max(config.http.maxBodyBytes, config.storage ? maxUploadBodyBytes : 0),
    shared,
  })
  url = listening.url
  return {
    url,
    async stop() {
      draining = true
      const { drainGraceMs: graceMs, drainMs } = config.http
      const deadline = performance.now() + graceMs + drainMs
      const beforeClose = async () => {
        // Work in the background goes on as long as requests are accepted.
        void background.stop()
        if (graceMs > 0) await ignoreNewConnections(listening.port)
      }
      await listening.stop({ graceMs, beforeClose, drainMs })
      if (!(await background.stop(Math.max(0, deadline - performance.now()))))
        log.warn({}, 'work in the background is interrupted')
      await limits.stop()
      await audit.close()
      await tracing?.stop()
      await store.close()
    },
  }
}

interface AppDependencies {
  readonly health: AppOptions['health']
  readonly storage: Storage | undefined
  readonly shareMetrics: AppOptions['shareMetrics']
  readonly tracing: AppOptions['tracing']
  readonly publicUrl: () => string
  readonly addressOf: ClientAddressOf
  readonly background: Background
  readonly revisionClock: RevisionClock
  readonly usageLimits: UsageLimits
  readonly log: LeveledLog
  readonly audit: Audit
}

const openApp = async (
  config: Config,
  store: Store,
  {
    health,
    storage,
    publicUrl,
    addressOf,
    background,
    revisionClock,
    usageLimits,
    shareMetrics,
    tracing,
    log,
    audit,
  }: AppDependencies,
): Promise<FetchHandler> => {
  const [first = await store.secret('session'), ...others] = config.sessionSecrets
  const identify = identifyByToken({ store, revisionClock, audit })
  const secrets = [first, ...others] as const
  const session = {
    ...{ store, secrets, publicUrl },
    // Other hosts of the domain cannot set a `__Host-` cookie (draft-ietf-httpbis-rfc6265bis, section 4.1.3.2). With
    // another name they could end a user's session, or replace it with the session of another user.
    cookieName: config.http.publicUrl?.startsWith('https:') ? '__Host-session' : undefined,
  }
  const identifySession = identifyBySession(session)
  const identifyEither = identifyByEither(identify, identifySession)
  const stored =
    storage &&
    openFiles(config, {
      ...{ storage, store, publicUrl, secrets, background },
      identify: identifyEither,
      requireSameOrigin: sessionsOfSameOrigin(publicUrl),
    })
  const circuits = createCircuitBreakers()
  return createApp({
    circuits,
    gateway: {
      fetch: circuits.wrap(fetchOnce),
      kind: config.media.upstream && createMediaKind(config.media.upstream),
      ...{ store, identify, revisionClock, secrets, background },
      idempotency: store.idempotency,
      events: store,
      segment: config.media.segment,
      timeoutMs: config.media.timeoutMs,
      limits: { perSecond: config.media.limits, queueMs: config.media.queueMs, store: store.rateLimits },
      maxBodyBytes: config.http.maxSmallBodyBytes,
    },
    text: {
      ...config.text,
      fetch: circuits.wrap(fetchPooledPost),
      defaultMaxTokens: config.text.defaultMaxTokens ?? null,
      ...(config.people.maxStoredResponseBytes > 0 && {
        storedResponses: store,
        maxStoredResponseBytes: config.people.maxStoredResponseBytes,
      }),
      ...{ identify, secrets, background, usage: store, objects: store, maxBodyBytes: config.http.maxBodyBytes },
    },
    video: {
      ...config.video,
      fetch: circuits.wrap(fetchOnce),
      store,
      identify,
      idempotency: store.idempotency,
      identifierSecret: await store.secret('video'),
      publicUrl: () => config.http.publicUrl,
      checkCallbackUrl: createCallbackCheck(config),
      maxBodyBytes: config.http.maxVideoBodyBytes,
      results: stored?.results,
      background,
    },
    people: {
      ...session,
      addressOf,
      face: {
        taskMs: config.face.taskMs,
        maxBodyBytes: config.http.maxSmallBodyBytes,
        maxOpen: config.people.maxFaceChecks,
        background,
      },
      maxTokens: config.people.maxTokens,
      maxSessions: config.people.maxSessions,
      passwordLogin: config.login.password,
    },
    oidc:
      config.login.oidc &&
      (await openOidcLogin(config.login.oidc, { ...session, addressOf, maxSessions: config.people.maxSessions })),
    admin: adminOptions(config, { store, identify: identifyEither, publicUrl, secrets, usageLimits }),
    events: eventOptions(
      config,
      { store, identify: identifyEither, background },
      { store, publicUrl, identify: identifySession },
    ),
    files: stored?.files,
    health,
    limits: config.limits,
    usageLimits,
    metricsToken: config.metricsToken,
    watchMetrics: (read) => keepMetricHistory({ store, read, clock: systemClock, background, log }),
    ...{ shareMetrics, tracing, log, audit },
  })
}

/** Starts several worker processes on one port. Each is a complete server. */
const serveWorkers = async (config: Config): Promise<RunningServer> => {
  const port = config.http.port === 0 ? await freePort(config.http.host) : config.http.port
  const flags = Deno ? ['run', ...workerFlags({ ...config, http: { ...config.http, port } }, Deno.permissions)] : []
  const workers = startWorkers({
    count: config.http.workers,
    command: [process.execPath, ...flags, ...process.argv.slice(1)],
    environment: (worker) => ({
      ...process.env,
      PORT: String(port),
      SLUICE_WORKER: String(worker),
      // Bun's `node:http` ignores `reusePort`. With this variable it shares the port.
      ...(!Deno && { NODE_UNIQUE_ID: String(worker) }),
    }),
    isListening: (output) => output.includes(listeningLine('')),
    log: createLog({ level: config.logLevel, secrets: config.secrets }),
  })
  await workers.listening
  return { url: `http://${config.http.host}:${port}`, stop: () => workers.stop() }
}

const listeningLine = (url: string): string => `sluice listening on ${url}`

/**
 * `bun run start`: starts the default server, in this process or in several workers.
 *
 * Prints the URL to standard output. On failure, prints the reason to standard error and exits: with status 2 for an
 * invalid configuration, otherwise 1.
 */
export const startCommand = async (): Promise<void> => {
  const config = configFromEnvironment()
  if ('problems' in config) {
    for (const problem of config.problems) console.error(problem)
    process.exit(2)
  }
  const isWorker = process.env.SLUICE_WORKER !== undefined
  const starting = config.http.workers > 1 && !isWorker ? serveWorkers(config) : serve(config, { shared: isWorker })
  await starting.then(
    (running) => {
      stopOnSignal(running)
      console.log(listeningLine(running.url))
    },
    (error: unknown) => {
      console.error(`sluice could not start: ${error instanceof Error ? error.message : 'a worker exited'}`)
      process.exit(1)
    },
  )
}

if (import.meta.main) {
  expectNoArguments(serverUsage)
  void startCommand()
}
