import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Awaitable, andThen } from '../../plugins/shared/awaitable.ts'
import type { CoarseTimers } from '../../plugins/shared/background/coarse-timers.ts'
import { attachBody } from '../../plugins/shared/http/body/body.ts'
import { setPeerAddress } from '../../plugins/shared/http/client-address.ts'
import { inFlightOf } from '../../plugins/shared/http/in-flight.ts'
import { requestTurn } from '../../plugins/shared/http/turn/request-turn.ts'
import { offerWebSocket, webSocketAcceptanceOf } from '../../plugins/shared/http/web-socket.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { createBody, type IncomingBody } from './body.ts'
import { type Connection, closeAndDropRequests, connectionOf } from './connection.ts'
import type { Drain } from './drain.ts'
import { checkFraming, type Framing, hasBody, readFraming } from './framing.ts'
import { countChunks, countParsed, requestCost } from './parse-in-turns.ts'
import { createRequest, type NodeRequest } from './request.ts'
import { sendResponse } from './send-response.ts'
import type { NodeServerTimeouts } from './timeouts.ts'
import type { RespondToUpgrade } from './upgrade.ts'
import { type SendEvent, waitUntilSent } from './wait-until-sent.ts'
import type { WebSockets } from './web-socket/web-socket.ts'

/** Options of a server about its requests. */
export interface RequestOptions {
  /**
   * Whether bodies of GET are attached to the request with `attachBody`. Default true. When false,
   * `paginationNormalizer` rejects a GET that announces a JSON body.
   */
  readonly getBodies?: boolean
  /** Renders the rejection of an invalid request. Default: `problem.toResponse()`. */
  readonly renderRejection?: (problem: Problem, target: string) => Response
}

/** A caller that sends a long body may be this slow. */
const minBytesPerMs = 2 ** 16 / 1_000
/** How much of an unread request body is discarded at most. */
export const maxUnreadBytes = 2 ** 22
/**
 * Maximum number of pipelined requests of one connection whose responses are not sent yet. Common clients do not
 * pipeline.
 */
export const maxPipelined = 20

/** What the requests of a server share. */
export interface RequestContext {
  readonly handle: (request: Request) => Awaitable<Response>
  readonly originOf: (host: string | undefined) => string
  readonly options: RequestOptions
  readonly timeouts: NodeServerTimeouts
  readonly timers: CoarseTimers
  readonly drain: Drain
  readonly webSockets: WebSockets
  /** Whether the caller waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
  readonly expectsContinue: boolean
}

/** Handles one request, from its headers to the last byte of its response. */
export const handleRequest = (
  incoming: IncomingMessage,
  serverResponse: ServerResponse,
  context: RequestContext,
  upgrade: Parameters<RespondToUpgrade>[2],
): Awaitable<void> => {
  countParsed(requestCost)
  const { socket } = incoming
  const connection = connectionOf(socket)
  if (connection.pendingResponses === maxPipelined) closeAndDropRequests(socket)
  if (socket.destroyed) return
  // A client that sends requests, and does not read the responses, gets one at a time.
  const earlier =
    connection.pendingResponses++ > 0
      ? new Promise<void>((respond) => connection.waiting.push({ incoming, respond }))
      : undefined
  const { handle, options, timeouts, timers, drain, webSockets } = context
  drain.started()
  const { problem, request, body } = readRequest(incoming, serverResponse, connection, context)
  const onClose = () => {
    connection.pendingResponses--
    connection.waiting.shift()?.respond()
    drain.ended()
    if (!serverResponse.writableFinished) request?.abort()
  }
  serverResponse.on('close', onClose)
  if (upgrade && request) offerWebSocket(request)
  /** Waits until the caller has read the buffered bytes. They count as bytes in flight until then. */
  const waitForReader = async (event: SendEvent) => {
    const inFlight = request && inFlightOf(request)
    inFlight?.sending(serverResponse.writableLength)
    const { responseStallMs: stallMs, responseMs: totalMs } = timeouts
    await waitUntilSent(serverResponse, event, { stallMs, totalMs }, timers)
    inFlight?.sent()
  }
  const respond = (refusal?: Problem) => {
    if (!request) return rejectionOf(problem, incoming, options)
    return refusal ? rejectionOf(refusal, incoming, options) : handle(request)
  }
  const respondInTurn = () => requestTurn(request, () => socket.destroyed)?.then(respond) ?? respond()
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

const rejectionOf = (problem: Problem, { url = '' }: IncomingMessage, options: RequestOptions): Response =>
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
  const body = hasBody(framing) ? bodyOf(incoming, serverResponse, framing, context) : undefined
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
  { contentLength }: Framing,
  { timeouts, timers, expectsContinue }: RequestContext,
): IncomingBody => {
  countChunks(incoming)
  const length = contentLength === undefined ? undefined : Number(contentLength)
  const limits = {
    length,
    stallMs: timeouts.bodyStallMs,
    totalMs: Math.max(timeouts.bodyMs, (length ?? 0) / minBytesPerMs),
    discard: { maxBytes: maxUnreadBytes, ms: timeouts.unreadBodyMs },
  }
  return createBody(incoming, limits, timers, () => expectsContinue && serverResponse.writeContinue())
}
