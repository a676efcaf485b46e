import { type AddressInfo, createServer } from 'node:net'
import { identifyByToken } from '../plugins/api-token/index.ts'
import { Freshness } from '../plugins/ownership/index.ts'
import { deliverAddress } from '../plugins/shared/address.ts'
import type { Log } from '../plugins/shared/problem.ts'
import { ark, type Fetch, type MediaKind, rest } from '../plugins/upstream-proxy/index.ts'
import { createApp, createWaitingApp, type Handle, refusalIn } from './app.ts'
import { type Config, configFromEnvironment, type MediaUpstream } from './config.ts'
import { drainable } from './drain.ts'
import { createFront } from './front.ts'
import { createLog } from './log.ts'
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
  const store = openStore(config.store.url)
  const ending = new AbortController()
  const health = { database: () => store.ready(), draining: () => ending.signal.aborted }

  /** Known when it listens, unless it is configured. */
  let url = ''
  const publicUrl = () => config.http.publicUrl ?? url

  let handle = createWaitingApp({ health, log, segment: config.media.segment })
  const open = async () => {
    await store.migrate()
    handle = await openApp(config, store, { health, publicUrl, settleUntil: ending.signal, log })
  }
  await open().catch((err: unknown) => {
    log.error({ err }, 'the database does not answer; it is asked again every second')
    void keepTrying(open, ending.signal)
  })

  const listening = await (config.http.getBodies || deno ? listenFront : listenBun)(
    (request) => handle(request),
    config,
    shared,
  )
  const host = config.http.host.includes(':') ? `[${config.http.host}]` : config.http.host
  url = `http://${host}:${listening.port}`
  return {
    url,
    async stop() {
      ending.abort()
      await listening.stop(config.http.drainMs)
      await store.close()
    },
  }
}

interface Surroundings {
  readonly health: Parameters<typeof createApp>[0]['health']
  readonly publicUrl: () => string
  readonly settleUntil: AbortSignal
  readonly log: Log
}

const openApp = async (
  config: Config,
  store: Store,
  { health, publicUrl, settleUntil, log }: Surroundings,
): Promise<Handle> => {
  const freshness = new Freshness(() => store.revision())
  const [first = await store.secret('session'), ...others] = config.sessionSecrets
  const identify = identifyByToken({ store, freshness })
  const secrets = [first, ...others] as const
  return createApp({
    gateway: {
      kind: config.media.upstream && kindOf(config.media.upstream),
      store,
      identify,
      freshness,
      secrets,
      segment: config.media.segment,
      timeoutMs: config.media.timeoutMs,
      limits: { perSecond: config.media.limits, queueMs: config.media.queueMs, places: store.places },
      maxBodyBytes: config.http.maxBodyBytes,
      fetch: sendOnce(),
      settleUntil,
    },
    text: {
      upstreams: config.text.upstream ? [config.text.upstream] : [],
      identify,
      usage: store,
      timeoutMs: config.text.timeoutMs,
      defaultMaxTokens: config.text.defaultMaxTokens ?? null,
      heartbeatMs: config.text.heartbeatMs,
      maxBodyBytes: config.http.maxBodyBytes,
      fetch: sendOnce(),
    },
    people: {
      store,
      secrets,
      publicUrl,
      face: { kind: config.media.upstream?.kind ?? 'rest', taskMs: config.face.taskMs, settleUntil },
    },
    health,
    metricsToken: config.metricsToken,
    log,
  })
}

const kindOf = (upstream: MediaUpstream): MediaKind => (upstream.kind === 'ark' ? ark(upstream) : rest(upstream))

/** Deno sends a POST again when a connection from its pool turns out dead; without a pool there is none. Bun heeds `keepalive`. */
const sendOnce = (): Fetch | undefined => {
  if (!deno) return undefined
  const client = deno.createHttpClient({ poolMaxIdlePerHost: 0 })
  return (url, init) => fetch(url, init.keepalive === false ? ({ ...init, client } as RequestInit) : init)
}

const keepTrying = async (open: () => Promise<void>, signal: AbortSignal): Promise<void> => {
  for (let opened = false; !opened && !signal.aborted; ) {
    await new Promise((resolve) => setTimeout(resolve, 1000))
    opened = await open().then(
      () => true,
      () => false,
    )
  }
}

interface Listening {
  readonly port: number
  stop(mostMs: number): Promise<void>
}

/** `node:http`, which delivers bodies of GET; for Deno in any case, whose own server (2.9.6) does not tell when a caller leaves before its answer begins. */
const listenFront = async (handle: Handle, { http, media }: Config, shared: boolean): Promise<Listening> => {
  const refuse = refusalIn(media.segment)
  const maxQueryBodyBytes = http.getBodies ? http.maxBodyBytes : undefined
  const server = createFront({ handle, maxQueryBodyBytes, refuse })
  const stop = drainable(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: http.host, port: http.port, reusePort: shared }, resolve)
  })
  return { port: (server.address() as AddressInfo).port, stop }
}

const listenBun = async (handle: Handle, { http }: Config, shared: boolean): Promise<Listening> => {
  const server = Bun.serve({
    hostname: http.host,
    port: http.port,
    reusePort: shared,
    // A call may be silent for longer than any timer of the runtime; its own deadline ends it.
    idleTimeout: 0,
    // Above the gateway's own limit, so that the answer to too much is the gateway's.
    maxRequestBodySize: http.maxBodyBytes + 2 ** 20,
    fetch(request, server) {
      deliverAddress(request, server.requestIP(request)?.address)
      return handle(request)
    },
  })
  return { port: server.port ?? 0, stop: (mostMs) => within(mostMs, server.stop()).then(() => server.stop(true)) }
}

const within = (ms: number, done: Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    void done.finally(() => {
      clearTimeout(timer)
      resolve()
    })
  })

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

if (import.meta.main) {
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
