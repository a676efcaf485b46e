import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Awaitable, andThen, isPromise } from '../plugins/shared/awaitable.ts'
import { attachBody } from '../plugins/shared/body.ts'
import { setPeerAddress } from '../plugins/shared/client-address.ts'
import { type CoarseTimers, createCoarseTimers } from '../plugins/shared/coarse-timers.ts'
import { inFlightOf } from '../plugins/shared/in-flight.ts'
import { Problem } from '../plugins/shared/problem.ts'
import { createBody, type IncomingBody } from './node-listener/body.ts'
import { framingOf, framingProblem, hasBody } from './node-listener/framing.ts'
import { createRequest, type NodeRequest } from './node-listener/request.ts'
import { send } from './node-listener/send.ts'
import { waitUntilSent } from './node-listener/wait-until-sent.ts'

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
  const times = { ...defaultTimeouts, ...options.timeouts }
  const checkEveryMs = Math.min(1_000, ...Object.values(times).map((ms) => ms / 2))
  const timers = createCoarseTimers(checkEveryMs)
  const onRequest = (expectsContinue: boolean) => (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const fail = () => void outgoing.destroy()
    try {
      const done = respond(incoming, outgoing, { options, times, timers, expectsContinue })
      if (isPromise(done)) done.catch(fail)
    } catch {
      fail()
    }
  }
  const settings = {
    keepAliveTimeout: times.keepAliveMs,
    headersTimeout: times.headersMs,
    // Bodies have their own shorter timeout. But without this one, Bun 1.4.5 and Deno 2.9.6 ignore `headersTimeout`.
    requestTimeout: 2 * times.bodyMs,
    connectionsCheckingInterval: checkEveryMs,
  }
  const server = createServer(settings, onRequest(false)).on('checkContinue', onRequest(true))
  return Object.assign(server, settings)
}

interface ListenerContext {
  readonly options: NodeServerOptions
  readonly times: NodeServerTimeouts
  readonly timers: CoarseTimers
  /** Whether the caller waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
  readonly expectsContinue: boolean
}

const respond = (incoming: IncomingMessage, outgoing: ServerResponse, context: ListenerContext): Awaitable<void> => {
  const { socket } = incoming
  const connection = connectionOf(socket)
  if (connection.unanswered === maxPipelined) socket.destroy()
  if (socket.destroyed) return
  connection.unanswered++
  const { problem, request, body } = readRequest(incoming, outgoing, connection, context)
  outgoing.once('close', () => {
    connection.unanswered--
    if (!outgoing.writableFinished) request?.abort()
  })
  const { options, times, timers } = context
  const response = request ? options.handle(request) : refuse(problem, incoming, options)
  const sent = andThen(response, (response) => send(response, outgoing, incoming.method === 'HEAD'))
  return andThen(sent, () => {
    body?.discard()
    if (outgoing.writableLength === 0) return undefined
    const inFlight = request && inFlightOf(request)
    inFlight?.sending(outgoing.writableLength)
    const done = waitUntilSent(outgoing, { stallMs: times.responseStallMs, wholeMs: times.responseMs }, timers)
    return done.then(() => inFlight?.sent())
  })
}

interface Connection {
  readonly address: string | undefined
  /** Number of requests whose responses are not sent yet. */
  unanswered: number
}

const connections = new WeakMap<Socket, Connection>()

const connectionOf = (socket: Socket): Connection => {
  let connection = connections.get(socket)
  if (!connection) {
    connection = { address: socket.remoteAddress, unanswered: 0 }
    connections.set(socket, connection)
  }
  return connection
}

const refuse = (problem: Problem, { url = '' }: IncomingMessage, options: NodeServerOptions): Response =>
  options.renderRejection?.(problem, url) ?? problem.toResponse()

type ParsedRequest =
  | { readonly problem: Problem; readonly request?: undefined; readonly body?: undefined }
  | { readonly problem?: undefined; readonly request: NodeRequest; readonly body: IncomingBody | undefined }

const readRequest = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { address }: Connection,
  context: ListenerContext,
): ParsedRequest => {
  const { method = 'GET', url: target = '', rawHeaders } = incoming
  const framing = framingOf(rawHeaders)
  const problem = framingProblem(framing, incoming.httpVersion === '1.0')
  if (problem) return { problem }
  const body = hasBody(framing) ? bodyOf(incoming, outgoing, context) : undefined
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
  outgoing: ServerResponse,
  { times, timers, expectsContinue }: ListenerContext,
): IncomingBody => {
  const limits = {
    stallMs: times.bodyStallMs,
    wholeMs: times.bodyMs,
    discard: { maxBytes: maxUnreadBytes, ms: times.unreadBodyMs },
  }
  return createBody(incoming, limits, timers, () => expectsContinue && outgoing.writeContinue())
}
