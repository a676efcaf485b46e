import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TlsOptions } from 'node:tls'
import type { Awaitable } from '../plugins/shared/awaitable.ts'
import { createCoarseTimers } from '../plugins/shared/background/coarse-timers.ts'
import { Drain, type StopOptions } from './node-server/drain.ts'
import { handleRequest, type RequestOptions } from './node-server/handle-request.ts'
import { parseInTurns } from './node-server/parse-in-turns.ts'
import { createOriginOf } from './node-server/request.ts'
import { defaultTimeouts, type NodeServerTimeouts } from './node-server/timeouts.ts'
import { closeAfterIo } from './node-server/timeouts-after-io.ts'
import { createUpgradeListener, type OnUpgrade, type RespondToUpgrade } from './node-server/upgrade.ts'
import { canOpenWebSocket, WebSockets } from './node-server/web-socket/web-socket.ts'

/**
 * An Elysia app, another object with `fetch`, or a function. It should not reject: a rejection closes the connection.
 */
export type NodeServerApp =
  | ((request: Request) => Awaitable<Response>)
  | {
      fetch(request: Request): Awaitable<Response>
      /** Elysia's lazy plugins. The server listens when they are loaded. */
      readonly modules?: PromiseLike<unknown>
    }

/** Options of `createNodeServer`. */
export interface NodeServerOptions extends RequestOptions {
  /**
   * Listens with TLS, with this certificate (`cert`) and private key (`key`), among other options of `node:tls`.
   * Default: without TLS.
   */
  readonly tls?: TlsOptions
  /**
   * The scheme in the URL of requests. Default: `https` with `tls`, else `http`. Use `https` behind a proxy that
   * callers reach by https.
   */
  readonly scheme?: 'http' | 'https'
  /**
   * Takes over connections whose caller asks for another protocol, such as WebSocket. Default: the app responds to such
   * requests.
   */
  readonly onUpgrade?: OnUpgrade
  /** Timeouts other than the default ones. */
  readonly timeouts?: Partial<NodeServerTimeouts>
}

const dayMs = 86_400_000
/** Where a server listens. */
export interface ListenOptions {
  /** Default: a free port. */
  readonly port?: number
  /** The name or address to bind. Default `127.0.0.1`; with `0.0.0.0` or `::`, other machines can connect too. */
  readonly hostname?: string
  /**
   * Whether other processes may listen on the same port. Default false. Bun 1.4.5 ignores it, except where
   * `NODE_UNIQUE_ID` is set.
   */
  readonly reusePort?: boolean
}

/** A server that does not listen yet. */
export interface NodeServer {
  /** Starts to listen. Rejects with the runtime's error, for example if the port is in use. Call it once. */
  listen(at?: number | ListenOptions): Promise<ListeningServer>
}

/** A listening server. Its `Symbol.asyncDispose` stops it and closes active connections. */
export interface ListeningServer extends AsyncDisposable {
  /** The address of the server, with the actual port and without a path: `http://127.0.0.1:3000`. */
  readonly url: string
  readonly port: number
  /**
   * Stops accepting connections, waits until the requests in flight have their responses, and closes all connections.
   * Then it resolves.
   *
   * A later call can shorten the wait.
   */
  stop(options?: StopOptions): Promise<void>
}

/**
 * Creates a `node:http` server for an app, on Bun and Deno. Unlike `Bun.serve` and `Deno.serve`, it delivers bodies of
 * GET.
 *
 *     await createNodeServer(app).listen(3000)
 *
 * A body is read only when the app reads it. A request without a body has no additional cost.
 * Throws TypeError without an app.
 *
 * @example
 * const { url } = await createNodeServer((request) => app.fetch(request)).listen({ port: 3000 })
 */
export const createNodeServer = (app: NodeServerApp, options: NodeServerOptions = {}): NodeServer => {
  if (typeof app !== 'function' && typeof app?.fetch !== 'function')
    throw new TypeError('app must be an app with a fetch function, or such a function')
  const handle = typeof app === 'function' ? app : (request: Request) => app.fetch(request)
  const protocol = options.tls ? 'https' : 'http'
  const originOf = createOriginOf(options.scheme ?? protocol)
  const timeouts = { ...defaultTimeouts, ...options.timeouts }
  const checkIntervalMs = Math.min(1_000, ...Object.values(timeouts).map((ms) => ms / 2))
  const timers = createCoarseTimers(checkIntervalMs)
  const { onUpgrade } = options
  const settings = {
    // The connection of any other such request stays open after the response.
    shouldUpgradeCallback: (incoming: IncomingMessage) => onUpgrade !== undefined || canOpenWebSocket(incoming),
    keepAliveTimeout: timeouts.keepAliveMs,
    headersTimeout: timeouts.headersMs,
    // Bodies have their own shorter timeout. But without this one, Bun 1.4.5 and Deno 2.9.6 ignore `headersTimeout`.
    requestTimeout: dayMs,
    connectionsCheckingInterval: checkIntervalMs,
    // Else each request without a body has a stream that ends, which takes several ticks. Deno (2.9.6) ignores it.
    optimizeEmptyRequests: true,
  }
  const create = () =>
    options.tls
      ? createTlsServer({ handshakeTimeout: timeouts.headersMs, ...options.tls, ...settings })
      : createServer(settings)
  const server = Object.assign(create(), settings)
  const webSockets = new WebSockets(handle, { ms: timeouts.unreadBodyMs, timers })
  const drain = new Drain(server, () => webSockets.stop())
  const onRequest = (expectsContinue: boolean) => {
    const context = { handle, originOf, options, timeouts, timers, drain, webSockets, expectsContinue }
    return (incoming: IncomingMessage, serverResponse: ServerResponse, upgrade?: Parameters<RespondToUpgrade>[2]) =>
      handleRequest(incoming, serverResponse, context, upgrade)
  }
  const respond = onRequest(false)
  server.on(options.tls ? 'secureConnection' : 'connection', parseInTurns)
  closeAfterIo(server, checkIntervalMs)
  server.on('request', respond).on('checkContinue', onRequest(true))
  server.on('upgrade', createUpgradeListener(onUpgrade, respond))
  const stop = (stopOptions?: StopOptions) => drain.stop(stopOptions)
  return {
    async listen(at = {}) {
      const { port = 0, hostname = '127.0.0.1', reusePort = false } = typeof at === 'number' ? { port: at } : at
      if (typeof app === 'object') await app.modules
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen({ host: hostname, port, reusePort }, resolve)
      })
      const actual = (server.address() as AddressInfo).port
      return {
        url: urlOf(protocol, hostname, actual),
        port: actual,
        stop,
        [Symbol.asyncDispose]: () => stop({ closeActiveConnections: true }),
      }
    },
  }
}

/** The URL of a server at a name or an address. */
export const urlOf = (protocol: string, hostname: string, port: number): string =>
  `${protocol}://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
