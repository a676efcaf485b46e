import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { type Awaitable, andThen, isPromise } from '../plugins/shared/awaitable.ts'
import { type CoarseTimers, createCoarseTimers } from '../plugins/shared/background/coarse-timers.ts'
import { attachBody } from '../plugins/shared/http/body/body.ts'
import { setPeerAddress } from '../plugins/shared/http/client-address.ts'
import { inFlightOf } from '../plugins/shared/http/in-flight.ts'
import { requestTurn } from '../plugins/shared/http/request-turn.ts'
import { offerWebSocket, webSocketAcceptanceOf } from '../plugins/shared/http/web-socket.ts'
import { Problem } from '../plugins/shared/problem.ts'
import { createBody, type IncomingBody } from './node-server/body.ts'
import { type Connection, closeAndDropRequests, connectionOf } from './node-server/connection.ts'
import { Drain, type StopOptions } from './node-server/drain.ts'
import { checkFraming, hasBody, readFraming } from './node-server/framing.ts'
import { createOriginOf, createRequest, type NodeRequest } from './node-server/request.ts'
import { sendResponse } from './node-server/send-response.ts'
import { createUpgradeListener, type OnUpgrade, type RespondToUpgrade } from './node-server/upgrade.ts'
import { type SendEvent, waitUntilSent } from './node-server/wait-until-sent.ts'
import { canOpenWebSocket, WebSockets } from './node-server/web-socket.ts'

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
export interface NodeServerOptions {
  /**
   * Whether bodies of GET are attached to the request with `attachBody`. Default true. When false,
   * `paginationNormalizer` rejects a GET that announces a JSON body.
   */
  readonly getBodies?: boolean
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
  /** Renders the rejection of an invalid request. Default: `problem.toResponse()`. */
  readonly renderRejection?: (problem: Problem, target: string) => Response
  /** Timeouts other than the default ones. */
  readonly timeouts?: Partial<NodeServerTimeouts>
}

/** Timeouts of connections, in milliseconds. None of them ends an open stream or a slow call of the app. */
export interface NodeServerTimeouts {
  /**
   * Idle time between two requests. Default 75,000: longer than the usual idle timeout of load balancers (60 s). If the
   * server closed first, it could close a connection on which the balancer is sending a request.
   */
  readonly keepAliveMs: number
  /** From the connection, or the first byte of a request, to the end of the headers. Default 15,000. */
  readonly headersMs: number
  /** For the next byte of a request body while the app reads it. Default 30,000. */
  readonly bodyStallMs: number
  /** For a whole request body. Default 300,000. One with a `Content-Length` has at least a second for each 64 KiB. */
  readonly bodyMs: number
  /** For the caller to read some of the bytes that are buffered for it. Not for event streams. Default 30,000. */
  readonly responseStallMs: number
  /**
   * For the caller to read all bytes that are buffered for it: the whole response, or in a stream, what fills the
   * buffer. Default 300,000.
   */
  readonly responseMs: number
  /**
   * For the rest of an unread request body after the response; at most 4 MiB of it are read and discarded. Also for a
   * WebSocket peer to close its end, after a close frame of the server. Default 5,000.
   */
  readonly unreadBodyMs: number
}

/** The default timeouts. */
export const defaultTimeouts: NodeServerTimeouts = {
  keepAliveMs: 75_000,
  headersMs: 15_000,
  bodyStallMs: 30_000,
  bodyMs: 300_000,
  responseStallMs: 30_000,
  responseMs: 300_000,
  unreadBodyMs: 5_000,
}
const dayMs = 86_400_000
/** A caller that sends a long body may be this slow. */
const minBytesPerMs = 2 ** 16 / 1_000
/** How much of an unread request body is discarded at most. */
export const maxUnreadBytes = 2 ** 22
/**
 * Maximum number of pipelined requests of one connection whose responses are not sent yet. Common clients do not
 * pipeline.
 */
export const maxPipelined = 20

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
    return (incoming: IncomingMessage, serverResponse: ServerResponse, upgrade?: Parameters<RespondToUpgrade>[2]) => {
      const closeConnection = () => void (upgrade ? upgrade.socket : serverResponse).destroy()
      try {
        const done = handleRequest(incoming, serverResponse, context, upgrade)
        if (isPromise(done)) done.catch(closeConnection)
      } catch {
        closeConnection()
      }
    }
  }
  const respond = onRequest(false)
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

interface RequestContext {
  readonly handle: (request: Request) => Awaitable<Response>
  readonly originOf: (host: string | undefined) => string
  readonly options: NodeServerOptions
  readonly timeouts: NodeServerTimeouts
  readonly timers: CoarseTimers
  readonly drain: Drain
  readonly webSockets: WebSockets
  /** Whether the caller waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
  readonly expectsContinue: boolean
}

const handleRequest = (
  incoming: IncomingMessage,
  serverResponse: ServerResponse,
  context: RequestContext,
  upgrade: Parameters<RespondToUpgrade>[2],
): Awaitable<void> => {
  const { socket } = incoming
  const connection = connectionOf(socket)
  if (connection.pendingResponses === maxPipelined) closeAndDropRequests(socket)
  if (socket.destroyed) return
  // A client that sends requests, and does not read the responses, gets one at a time.
  const earlier =
    connection.pendingResponses++ > 0 ? new Promise<void>((resolve) => connection.waiting.push(resolve)) : undefined
  const { handle, options, timeouts, timers, drain, webSockets } = context
  drain.started()
  const { problem, request, body } = readRequest(incoming, serverResponse, connection, context)
  const onClose = () => {
    connection.pendingResponses--
    connection.waiting.shift()?.()
    drain.ended()
    if (!serverResponse.writableFinished) request?.abort()
  }
  serverResponse.once('close', onClose)
  if (upgrade && request) offerWebSocket(request)
  /** Waits until the caller has read the buffered bytes. They count as bytes in flight until then. */
  const waitForReader = async (event: SendEvent) => {
    const inFlight = request && inFlightOf(request)
    inFlight?.sending(serverResponse.writableLength)
    const { responseStallMs: stallMs, responseMs: totalMs } = timeouts
    await waitUntilSent(serverResponse, event, { stallMs, totalMs }, timers)
    inFlight?.sent()
  }
  const respond = () => (request ? handle(request) : rejectionOf(problem, incoming, options))
  const respondInTurn = () => requestTurn()?.then(respond) ?? respond()
  const response = earlier?.then(() => (socket.destroyed ? undefined : respondInTurn())) ?? respondInTurn()
  const sent = andThen(response, (response) => {
    if (!response) return undefined
    const acceptance = upgrade && webSocketAcceptanceOf(response)
    if (acceptance) return webSockets.open(upgrade, acceptance, onClose)
    upgrade?.sendResponse()
    // Tells a keep-alive client not to send its next request on this connection (RFC 9112 section 9.6).
    if (drain.isStopping) serverResponse.setHeader('connection', 'close')
    return sendResponse(response, serverResponse, incoming.method === 'HEAD', waitForReader)
  })
  return andThen(sent, () => {
    body?.discard()
    return serverResponse.writableLength === 0 ? undefined : waitForReader('close')
  })
}

const rejectionOf = (problem: Problem, { url = '' }: IncomingMessage, options: NodeServerOptions): Response =>
  options.renderRejection?.(problem, url) ?? problem.toResponse()

type ParsedRequest =
  | { readonly problem: Problem; readonly request?: undefined; readonly body?: undefined }
  | { readonly problem?: undefined; readonly request: NodeRequest; readonly body: IncomingBody | undefined }

const readRequest = (
  incoming: IncomingMessage,
  serverResponse: ServerResponse,
  { address }: Connection,
  context: RequestContext,
): ParsedRequest => {
  const { method = 'GET', url: target = '', rawHeaders } = incoming
  const framing = readFraming(rawHeaders)
  const problem = checkFraming(framing, incoming.httpVersion === '1.0')
  if (problem) return { problem }
  const body = hasBody(framing) ? bodyOf(incoming, serverResponse, context) : undefined
  const allowsBody = method !== 'GET' && method !== 'HEAD'
  try {
    const origin = context.originOf(framing.host)
    const request = createRequest({ method, origin, target, rawHeaders, body: allowsBody ? body : undefined })
    if (body && method === 'GET' && context.options.getBodies !== false) attachBody(request, body.stream())
    setPeerAddress(request, address)
    return { request, body }
  } catch {
    return { problem: new Problem(400, 'request is not valid', { headers: { connection: 'close' } }) }
  }
}

const bodyOf = (
  incoming: IncomingMessage,
  serverResponse: ServerResponse,
  { timeouts, timers, expectsContinue }: RequestContext,
): IncomingBody => {
  const limits = {
    stallMs: timeouts.bodyStallMs,
    totalMs: Math.max(timeouts.bodyMs, Number(incoming.headers['content-length'] ?? 0) / minBytesPerMs),
    discard: { maxBytes: maxUnreadBytes, ms: timeouts.unreadBodyMs },
  }
  return createBody(incoming, limits, timers, () => expectsContinue && serverResponse.writeContinue())
}
