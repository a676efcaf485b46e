import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Awaitable, andThen, isPromise } from '../plugins/shared/awaitable.ts'
import { attachBody } from '../plugins/shared/body.ts'
import { setPeerAddress } from '../plugins/shared/client-address.ts'
import { type CoarseTimers, createCoarseTimers } from '../plugins/shared/coarse-timers.ts'
import { inFlightOf } from '../plugins/shared/in-flight.ts'
import { Problem } from '../plugins/shared/problem.ts'
import { createBody, type IncomingBody } from './node-server/body.ts'
import { checkFraming, hasBody, readFraming } from './node-server/framing.ts'
import { createRequest, type NodeRequest } from './node-server/request.ts'
import { sendResponse } from './node-server/send-response.ts'
import { waitUntilSent } from './node-server/wait-until-sent.ts'

/** Options of `createNodeServer`. */
export interface NodeServerOptions {
  /** The app. It should not reject: a rejection closes the connection. */
  readonly handle: (request: Request) => Awaitable<Response>
  /**
   * Whether bodies of GET are attached to the request with `attachBody`. Default true. When false, `paginationNormalizer` rejects a GET that
   * announces a JSON body.
   */
  readonly getBodies?: boolean
  /** Renders the rejection of an invalid request. Default: `problem.toResponse()`. */
  readonly renderRejection?: (problem: Problem, target: string) => Response
  /** Timeouts other than the default ones. */
  readonly timeouts?: Partial<NodeServerTimeouts>
}

/** Timeouts of connections, in milliseconds. None of them ends an open stream or a slow call of the app. */
export interface NodeServerTimeouts {
  /**
   * Idle time between two requests. Default 75,000: longer than the usual idle timeout of load balancers (60 s). If the server closed first, it
   * could close a connection on which the balancer is sending a request.
   */
  readonly keepAliveMs: number
  /** From the connection, or the first byte of a request, to the end of the headers. Default 15,000. */
  readonly headersMs: number
  /** For the next byte of a request body while the app reads it. Default 30,000. */
  readonly bodyStallMs: number
  /** For a whole request body. Default 300,000. */
  readonly bodyMs: number
  /** For the caller to read some bytes of a response that is buffered for it. Default 30,000. */
  readonly responseStallMs: number
  /** For the caller to read the whole response. Default 300,000. */
  readonly responseMs: number
  /** For the rest of an unread request body after the response; at most 4 MiB of it are read and discarded. Default 5,000. */
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
/** How much of an unread request body is discarded at most. */
export const maxUnreadBytes = 2 ** 22
/** Maximum number of pipelined requests of one connection whose responses are not sent yet. Common clients do not pipeline. */
export const maxPipelined = 64

/**
 * Creates a `node:http` server for an app. Unlike `Bun.serve` and `Deno.serve`, it delivers bodies of GET.
 *
 * A body is read only when the app reads it. A request without a body has no additional cost.
 */
export const createNodeServer = (options: NodeServerOptions): Server => {
  const timeouts = { ...defaultTimeouts, ...options.timeouts }
  const checkIntervalMs = Math.min(1_000, ...Object.values(timeouts).map((ms) => ms / 2))
  const timers = createCoarseTimers(checkIntervalMs)
  const onRequest = (expectsContinue: boolean) => (incoming: IncomingMessage, serverResponse: ServerResponse) => {
    const closeConnection = () => void serverResponse.destroy()
    try {
      const done = handleRequest(incoming, serverResponse, { options, timeouts, timers, expectsContinue })
      if (isPromise(done)) done.catch(closeConnection)
    } catch {
      closeConnection()
    }
  }
  const settings = {
    keepAliveTimeout: timeouts.keepAliveMs,
    headersTimeout: timeouts.headersMs,
    // Bodies have their own shorter timeout. But without this one, Bun 1.4.5 and Deno 2.9.6 ignore `headersTimeout`.
    requestTimeout: 2 * timeouts.bodyMs,
    connectionsCheckingInterval: checkIntervalMs,
  }
  const server = createServer(settings, onRequest(false)).on('checkContinue', onRequest(true))
  return Object.assign(server, settings)
}

interface RequestContext {
  readonly options: NodeServerOptions
  readonly timeouts: NodeServerTimeouts
  readonly timers: CoarseTimers
  /** Whether the caller waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
  readonly expectsContinue: boolean
}

const handleRequest = (
  incoming: IncomingMessage,
  serverResponse: ServerResponse,
  context: RequestContext,
): Awaitable<void> => {
  const { socket } = incoming
  const connection = connectionOf(socket)
  if (connection.pendingResponses === maxPipelined) socket.destroy()
  if (socket.destroyed) return
  connection.pendingResponses++
  const { problem, request, body } = readRequest(incoming, serverResponse, connection, context)
  serverResponse.once('close', () => {
    connection.pendingResponses--
    if (!serverResponse.writableFinished) request?.abort()
  })
  const { options, timeouts, timers } = context
  const response = request ? options.handle(request) : rejectionOf(problem, incoming, options)
  const sent = andThen(response, (response) => sendResponse(response, serverResponse, incoming.method === 'HEAD'))
  return andThen(sent, () => {
    body?.discard()
    if (serverResponse.writableLength === 0) return undefined
    const inFlight = request && inFlightOf(request)
    inFlight?.sending(serverResponse.writableLength)
    const done = waitUntilSent(
      serverResponse,
      { stallMs: timeouts.responseStallMs, totalMs: timeouts.responseMs },
      timers,
    )
    return done.then(() => inFlight?.sent())
  })
}

interface Connection {
  readonly address: string | undefined
  /** Number of requests whose responses are not sent yet. */
  pendingResponses: number
}

const connections = new WeakMap<Socket, Connection>()

const connectionOf = (socket: Socket): Connection => {
  let connection = connections.get(socket)
  if (!connection) {
    connection = { address: socket.remoteAddress, pendingResponses: 0 }
    connections.set(socket, connection)
  }
  return connection
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
    const request = createRequest({ method, target, rawHeaders, body: allowsBody ? body : undefined })
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
    totalMs: timeouts.bodyMs,
    discard: { maxBytes: maxUnreadBytes, ms: timeouts.unreadBodyMs },
  }
  return createBody(incoming, limits, timers, () => expectsContinue && serverResponse.writeContinue())
}
