import type { FetchHandler } from '../plugins/concurrency-limits/index.ts'
import { maxUploadBodyBytes } from '../plugins/file-storage/index.ts'
import { RevisionClock } from '../plugins/ownership/index.ts'
import { Background } from '../plugins/shared/background/background.ts'
import { within } from '../plugins/shared/background/within.ts'
import { createClientAddressOf, createIsTrustedPeer } from '../plugins/shared/http/client-address.ts'
import { usageLimits } from '../plugins/usage-limits/index.ts'
import type { AppOptions } from './app/options.ts'
import { withCors } from './app/request/cors.ts'
import { openStorage } from './app/storage.ts'
import { createWaitingApp } from './app.ts'
import { createAudit } from './audit/index.ts'
import { type Config, configFromEnvironment } from './config.ts'
import { createLog, startLog } from './log.ts'
import { urlOf } from './node-server.ts'
import { type DenoPermissions, workerFlags } from './server/deno-flags.ts'
import { checkFirstAccount, FirstAccountError } from './server/first-account.ts'
import { listenBun, listenNode } from './server/listen.ts'
import { ignoreNewConnections } from './server/new-connections.ts'
import { openApp } from './server/open-app.ts'
import { stopOnSignal } from './server/stop-on-signal.ts'
import { expectNoArguments, serverUsage } from './server/usage.ts'
import { DatabaseLockedError } from './store/database/error.ts'
import { openStore } from './store/index.ts'
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
  const store = openStore(config.store.url, {
    ...{ deadlineMs: config.store.deadlineMs, log, auditKeys: config.audit.keys },
  })
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
    await checkFirstAccount(config.media.accounts, store)
    const shareMetrics: AppOptions['shareMetrics'] =
      shared && process.connected ? (own) => connectToSupervisor(process, own) : undefined
    return openApp(config, store, {
      ...{ health, publicUrl, addressOf, background, revisionClock, usageLimits: limits },
      ...{ shareMetrics, tracing, log, audit, storage: storage?.storage },
    })
  }
  let reason: unknown = new Error('the database is being opened')
  const retry = (err: unknown): void => {
    if (err instanceof DatabaseLockedError) log.warn({ err }, `${err.message}; the server waits for it`)
    else log.error({ err }, 'the database is not available; the server tries again every second')
    reason = err
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
  }
  const waiting = () => createWaitingApp({ health, log, segment: config.media.segment, reason: () => reason })
  const opening = open().catch((err: unknown) => {
    if (err instanceof FirstAccountError) throw err
    retry(err)
    return waiting()
  })
  let handle: FetchHandler | undefined = await within(opening, listenMs)
  if (!handle) {
    log.warn({}, 'the database takes long to open, perhaps for its migrations; the server listens meanwhile')
    handle = waiting()
    opening.then((opened) => {
      handle = opened
    }, retry)
  }

  const prefixes = ['/v1', '/api/v3', `/api/${config.media.segment}/proxy`]
  const handleCors = withCors((request) => (handle as FetchHandler)(request), {
    origins: config.http.corsOrigins,
    prefixes,
  })
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

/** The migrations of a large database may take longer. A process manager may kill a server that does not listen. */
const listenMs = 10_000

/** Starts several worker processes on one port. Each is a complete server. */
const serveWorkers = async (config: Config): Promise<RunningServer> => {
  const flagsFor = (port: number) =>
    Deno ? ['run', ...workerFlags({ ...config, http: { ...config.http, port } }, Deno.permissions)] : []
  const workers = startWorkers({
    count: config.http.workers,
    port: config.http.port,
    command: (port) => [process.execPath, ...flagsFor(port), ...process.argv.slice(1)],
    environment: (worker, port) => ({
      ...process.env,
      PORT: String(port),
      SLUICE_WORKER: String(worker),
      // Bun's `node:http` ignores `reusePort`. With this variable it shares the port.
      ...(!Deno && { NODE_UNIQUE_ID: String(worker) }),
    }),
    portIn: (output) => {
      const [, port] = /^sluice listening on \S+:(\d+)$/m.exec(output) ?? []
      return port === undefined ? undefined : Number(port)
    },
    log: createLog({ level: config.logLevel, secrets: config.secrets }),
  })
  return { url: urlOf('http', config.http.host, await workers.listening), stop: () => workers.stop() }
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
