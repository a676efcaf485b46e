import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Awaitable, andThen, isPromise } from '../plugins/shared/awaitable.ts'
import { deliverBody } from '../plugins/shared/body.ts'
import { setPeerAddress } from '../plugins/shared/client-address.ts'
import { type CoarseTimers, createCoarseTimers } from '../plugins/shared/coarse-timers.ts'
import { inFlightOf } from '../plugins/shared/in-flight.ts'
import { Problem } from '../plugins/shared/problem.ts'
import { createBody, type IncomingBody } from './node-listener/body.ts'
import { framingOf, framingProblem, hasBody } from './node-listener/framing.ts'
import { createRequest, type FrontRequest } from './node-listener/request.ts'
import { send } from './node-listener/send.ts'
import { untilSent } from './node-listener/unsent.ts'

export interface FrontOptions {
  readonly handle: (request: Request) => Awaitable<Response>
  /** Whether bodies of GET are handed over, with `deliverBody`. Default true; false: they are ignored, and the app refuses those that it would have to read. */
  readonly getBodies?: boolean
  /** How a request is refused that no server should have to understand. Default: as the problem renders itself. */
  readonly refuse?: (problem: Problem, target: string) => Response
  readonly times?: Partial<FrontTimes>
}

/** How long a connection is waited for, in milliseconds. Nothing here ends a stream that is under way, or a call that takes its time. */
export interface FrontTimes {
  /** Between two requests. Default 75,000: longer than balancers keep theirs (60 s), because who closes first must not be the one whose requests come in. */
  readonly keepAliveMs: number
  /** From the connection, or the first byte of a request, to the end of its headers. Default 15,000. */
  readonly headersMs: number
  /** For the next byte of a body that is being read. Default 30,000. */
  readonly bodyStallMs: number
  /** For the whole of a body. Default 300,000. */
  readonly bodyMs: number
  /** For the caller to take anything of an answer that it has not read to the end yet. Default 30,000. */
  readonly answerStallMs: number
  /** For the caller to take the whole of it. Default 300,000. */
  readonly answerMs: number
  /** For the rest of a body that nobody wanted, after the answer; at most 4 MiB of it are read, and dropped. Default 5,000. */
  readonly unwantedMs: number
}

/** What is waited for unless something else is said. */
export const usualTimes: FrontTimes = {
  keepAliveMs: 75_000,
  headersMs: 15_000,
  bodyStallMs: 30_000,
  bodyMs: 300_000,
  answerStallMs: 30_000,
  answerMs: 300_000,
  unwantedMs: 5_000,
}
/** What is read and dropped, at most, of a body that nobody wanted. */
export const maxUnwantedBytes = 2 ** 22
/** Most requests of one connection that have no answer yet, or one that has not been read: no client of today sends any before it has read the last answer. */
export const maxPipelined = 64

/**
 * A server on `node:http`, which alone delivers a body on GET: the runtimes' own servers throw it away. No body is read before the app asks for it, and every
 * request without one pays nothing for those that have one.
 */
export const createFront = (options: FrontOptions): Server => {
  const times = { ...usualTimes, ...options.times }
  const everyMs = Math.min(1_000, ...Object.values(times).map((ms) => ms / 2))
  const waits = createCoarseTimers(everyMs)
  const answering = (waitsForConsent: boolean) => (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const fail = () => void outgoing.destroy()
    try {
      const answered = answer(incoming, outgoing, { options, times, waits, waitsForConsent })
      if (isPromise(answered)) answered.catch(fail)
    } catch {
      fail()
    }
  }
  const settings = {
    keepAliveTimeout: times.keepAliveMs,
    headersTimeout: times.headersMs,
    // Bodies have their own time, which is shorter and the same on every runtime; but without this one Bun and Deno (1.4.5 and 2.9.6) do not heed the one for headers.
    requestTimeout: 2 * times.bodyMs,
    connectionsCheckingInterval: everyMs,
  }
  const server = createServer(settings, answering(false)).on('checkContinue', answering(true))
  return Object.assign(server, settings)
}

interface Serving {
  readonly options: FrontOptions
  readonly times: FrontTimes
  readonly waits: CoarseTimers
  /** Whether the caller sends its body when it is told to, or else not (RFC 9110 section 10.1.1). */
  readonly waitsForConsent: boolean
}

const answer = (incoming: IncomingMessage, outgoing: ServerResponse, serving: Serving): Awaitable<void> => {
  const { socket } = incoming
  const connection = connectionOf(socket)
  if (connection.unanswered === maxPipelined) socket.destroy()
  if (socket.destroyed) return
  connection.unanswered++
  const { problem, request, body } = read(incoming, outgoing, connection, serving)
  outgoing.once('close', () => {
    connection.unanswered--
    if (!outgoing.writableFinished) request?.leave()
  })
  const { options, times, waits } = serving
  const response = request ? options.handle(request) : refuse(problem, incoming, options)
  const sent = andThen(response, (response) => send(response, outgoing, incoming.method === 'HEAD'))
  return andThen(sent, () => {
    body?.dismiss()
    if (outgoing.writableLength === 0) return undefined
    const inFlight = request && inFlightOf(request)
    inFlight?.sending(outgoing.writableLength)
    const taken = untilSent(outgoing, { stallMs: times.answerStallMs, wholeMs: times.answerMs }, waits)
    return taken.then(() => inFlight?.sent())
  })
}

interface Connection {
  readonly address: string | undefined
  /** Requests that have no answer yet, or one that has not been read. */
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

const refuse = (problem: Problem, { url = '' }: IncomingMessage, options: FrontOptions): Response =>
  options.refuse?.(problem, url) ?? problem.toResponse()

type Asked =
  | { readonly problem: Problem; readonly request?: undefined; readonly body?: undefined }
  | { readonly problem?: undefined; readonly request: FrontRequest; readonly body: IncomingBody | undefined }

const read = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { address }: Connection,
  serving: Serving,
): Asked => {
  const { method = 'GET', url: target = '', rawHeaders } = incoming
  const framing = framingOf(rawHeaders)
  const problem = framingProblem(framing, incoming.httpVersion === '1.0')
  if (problem) return { problem }
  const body = hasBody(framing) ? bodyOf(incoming, outgoing, serving) : undefined
  const carries = method !== 'GET' && method !== 'HEAD'
  try {
    const request = createRequest({ method, target, rawHeaders, body: carries ? body : undefined })
    if (body && method === 'GET' && serving.options.getBodies !== false) deliverBody(request, body.stream())
    setPeerAddress(request, address)
    return { request, body }
  } catch {
    return { problem: new Problem(400, 'request is not valid', { headers: { connection: 'close' } }) }
  }
}

const bodyOf = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { times, waits, waitsForConsent }: Serving,
): IncomingBody => {
  const limits = {
    stallMs: times.bodyStallMs,
    wholeMs: times.bodyMs,
    unwanted: { maxBytes: maxUnwantedBytes, ms: times.unwantedMs },
  }
  return createBody(incoming, limits, waits, () => waitsForConsent && outgoing.writeContinue())
}
