import { type AddressInfo, createServer } from 'node:net'
import { identifyByToken } from '../plugins/api-token/index.ts'
import { RevisionClock } from '../plugins/ownership/index.ts'
import type { Audit } from '../plugins/shared/audit.ts'
import { type ClientAddressOf, createClientAddressOf } from '../plugins/shared/client-address.ts'
import { ark, type Fetch, type MediaKind, rest } from '../plugins/upstream-proxy/index.ts'
import { createApp, createWaitingApp, type Handle } from './app.ts'
import { createAudit } from './audit/index.ts'
import { type Config, configFromEnvironment, type MediaUpstream } from './config.ts'
import { createLog, type LeveledLog } from './log.ts'
import { listenBun, listenFront } from './server/listen.ts'
import { openStore, type Store } from './store/index.ts'
import { startWorkers } from './workers.ts'

/** What this file uses of a global that only Deno has. */
interface DenoRuntime {
  createHttpClient(options: { poolMaxIdlePerHost: number }): object
}
const deno = (globalThis as { Deno?: DenoRuntime }).Deno

export interface Running {
  /** `http://HOST:PORT`, with the port that it got. */
  readonly url: string
  /** Stops accepting, lets requests in flight finish for at most the configured time, then closes everything. */
  stop(): Promise<void>
}

/** The default server in this process. `shared`: others listen on the same port. */
export const serve = async (config: Config, { shared = false } = {}): Promise<Running> => {
  const log = createLog({ level: config.logLevel, secrets: config.secrets })
  const store = openStore(config.store.url, { log })
  const ending = new AbortController()
  const addressOf = createClientAddressOf(config.http.trustedProxies)
  const audit = createAudit({ store, keepMs: config.audit.keepMs, addressOf, log })
  const health = { database: () => store.ready(), draining: () => ending.signal.aborted }

  /** Known when it listens, unless it is configured. */
  let url = ''
  const publicUrl = () => config.http.publicUrl ?? url

  const open = async (): Promise<Handle> => {
    await store.migrate()
    return openApp(config, store, { health, publicUrl, addressOf, settleUntil: ending.signal, log, audit })
  }
  let handle: Handle = await open().catch((err: unknown) => {
    log.error({ err }, 'the database does not answer; it is asked again every second')
    void keepTrying(open, ending.signal).then((opened) => {
      if (opened) handle = opened
    })
    return createWaitingApp({ health, log, segment: config.media.segment })
  })

  const listening = await (config.http.getBodies || deno ? listenFront : listenBun)((request) => handle(request), {
    http: config.http,
    media: config.media,
    shared,
  })
  const host = config.http.host.includes(':') ? `[${config.http.host}]` : config.http.host
  url = `http://${host}:${listening.port}`
  return {
    url,
    async stop() {
      ending.abort()
      await listening.stop(config.http.drainMs)
      await audit.close()
      await store.close()
    },
  }
}

interface Surroundings {
  readonly health: Parameters<typeof createApp>[0]['health']
  readonly publicUrl: () => string
  readonly addressOf: ClientAddressOf
  readonly settleUntil: AbortSignal
  readonly log: LeveledLog
  readonly audit: Audit
}

const openApp = async (
  config: Config,
  store: Store,
  { health, publicUrl, addressOf, settleUntil, log, audit }: Surroundings,
): Promise<Handle> => {
  const revisionClock = new RevisionClock((since) => store.revision(since))
  const [first = await store.secret('session'), ...others] = config.sessionSecrets
  const identify = identifyByToken({ store, revisionClock: revisionClock, audit })
  const secrets = [first, ...others] as const
  return createApp({
    gateway: {
      kind: config.media.upstream && kindOf(config.media.upstream),
      store,
      identify,
      revisionClock,
      secrets,
      segment: config.media.segment,
      timeoutMs: config.media.timeoutMs,
      limits: { perSecond: config.media.limits, queueMs: config.media.queueMs, store: store.rateLimits },
      maxBodyBytes: config.http.maxSmallBodyBytes,
      fetch: sendOnce(),
      settleUntil,
    },
    text: {
      upstreams: config.text.upstream ? [config.text.upstream] : [],
      identify,
      usage: store,
      objects: store,
      objectsKeptMs: config.text.objectsKeptMs,
      allowedFields: config.text.allowedFields,
      settleUntil,
      timeoutMs: config.text.timeoutMs,
      defaultMaxTokens: config.text.defaultMaxTokens ?? null,
      heartbeatMs: config.text.heartbeatMs,
      presetAssets: config.text.presetAssets,
      maxBodyBytes: config.http.maxBodyBytes,
      fetch: sendOnce() ?? keepConnections,
    },
    people: {
      store,
      secrets,
      // No other host of the domain can set a cookie of such a name (draft-ietf-httpbis-rfc6265bis, section 4.1.3.2): it would throw people out, or have them act as somebody else.
      cookieName: config.http.publicUrl?.startsWith('https:') ? '__Host-session' : undefined,
      publicUrl,
      addressOf,
      face: {
        kind: config.media.upstream?.kind ?? 'rest',
        taskMs: config.face.taskMs,
        maxBodyBytes: config.http.maxSmallBodyBytes,
        maxOpen: config.people.maxFaceChecks,
        settleUntil,
      },
      maxTokens: config.people.maxTokens,
      maxSessions: config.people.maxSessions,
    },
    health,
    limits: config.limits,
    metricsToken: config.metricsToken,
    log,
    audit,
  })
}

const kindOf = (upstream: MediaUpstream): MediaKind => (upstream.kind === 'ark' ? ark(upstream) : rest(upstream))

/** Deno sends a POST again when a connection from its pool turns out dead; without a pool there is none. Bun heeds `keepalive`. */
const sendOnce = (): Fetch | undefined => {
  if (!deno) return undefined
  const client = deno.createHttpClient({ poolMaxIdlePerHost: 0 })
  return (url, init) => fetch(url, init.keepalive === false ? ({ ...init, client } as RequestInit) : init)
}

/**
 * Bun sends a POST once, also where a connection from its pool turns out dead. So a generation needs no connection of its own. Where the upstream ends an idle one at the very
 * moment, the call fails as one that was cut off does: nobody can tell whether it has arrived.
 */
const keepConnections: Fetch = (url, init) => fetch(url, init.method === 'POST' ? { ...init, keepalive: true } : init)

/** Undefined when it was called off. */
const keepTrying = async <Opened>(open: () => Promise<Opened>, signal: AbortSignal): Promise<Opened | undefined> => {
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, 1000))
    const opened = await open().catch(() => undefined)
    if (opened !== undefined) return opened
  }
  return undefined
}

/** Several processes on one port, each a server of its own. */
const serveShared = async (config: Config): Promise<Running> => {
  const port = config.http.port === 0 ? await freePort(config.http.host) : config.http.port
  const script = process.argv[1] ?? ''
  const workers = startWorkers({
    count: config.http.workers,
    command: deno ? [process.execPath, 'run', '-A', script] : [process.execPath, script],
    environment: (worker) => ({
      ...process.env,
      PORT: String(port),
      SLUICE_WORKER: String(worker),
      // By this Bun's node:http knows that a port is to be shared; it has no option for it.
      ...(!deno && { NODE_UNIQUE_ID: String(worker) }),
    }),
    isListening: (output) => output.includes(listeningLine('')),
    log: createLog({ level: config.logLevel, secrets: config.secrets }),
  })
  await workers.listening
  return { url: `http://${config.http.host}:${port}`, stop: () => workers.stop() }
}

const freePort = (host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, host, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

const listeningLine = (url: string): string => `sluice listening on ${url}`

/** Ends `running` at the first SIGTERM or SIGINT, and then the process with status 0; a second one, a second later or more, ends it at once. */
export const stopOnSignal = (running: Pick<Running, 'stop'>): void => {
  let stoppingSince: number | undefined
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stoppingSince === undefined) {
        stoppingSince = performance.now()
        void running.stop().finally(() => process.exit(0))
      } else if (performance.now() - stoppingSince > 1000) {
        // Ctrl-C reaches a script twice, from the terminal and from its runner: only a later one is impatience.
        process.exit(1)
      }
    })
  }
}

/** `bun run start`: in this process, or in several. Says on standard output where it listens; ends the process, with the reason on standard error, where it does not. */
export const main = async (): Promise<void> => {
  const config = configFromEnvironment()
  if ('problems' in config) {
    for (const problem of config.problems) console.error(problem)
    process.exit(2)
  }
  const worker = process.env.SLUICE_WORKER !== undefined
  const starting = config.http.workers > 1 && !worker ? serveShared(config) : serve(config, { shared: worker })
  await starting.then(
    (running) => {
      stopOnSignal(running)
      console.log(listeningLine(running.url))
    },
    (error: unknown) => {
      console.error(`sluice does not listen: ${error instanceof Error ? error.message : 'a worker ended'}`)
      process.exit(1)
    },
  )
}

if (import.meta.main) void main()
