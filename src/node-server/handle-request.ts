import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Awaitable, andThen, isPromise } from '../../plugins/shared/awaitable.ts'
import type { CoarseTimers } from '../../plugins/shared/background/coarse-timers.ts'
import { attachBody } from '../../plugins/shared/http/body/body.ts'
import { setPeerAddress } from '../../plugins/shared/http/client-address.ts'
import { inFlightOf } from '../../plugins/shared/http/in-flight.ts'
import { mayBegin } from '../../plugins/shared/http/turn/request-turn.ts'
import type { WaitingForTurn } from '../../plugins/shared/http/turn/request-turns.ts'
import { offerWebSocket, webSocketAcceptanceOf } from '../../plugins/shared/http/web-socket.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { createBody, type IncomingBody } from './body.ts'
import { type Connection, closeAndDropRequests, connectionOf, type PipelinedRequest } from './connection.ts'
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
): void => {
  countParsed(requestCost)
  const { socket } = incoming
  const connection = connectionOf(socket)
  if (connection.pendingResponses === maxPipelined) closeAndDropRequests(socket)
  if (socket.destroyed) return
  const exchange = new Exchange(incoming, serverResponse, connection, context, upgrade)
  // A client that sends requests, and does not read the responses, gets one at a time.
  if (connection.pendingResponses++ > 0) connection.waiting.push(exchange)
  else exchange.takeTurn()
}

/**
 * A request and its response.
 *
 * Until the request has its turn, it holds few objects, without its body and without a promise: the garbage collector
 * visits all that a thousand waiting requests hold.
 */
class Exchange implements PipelinedRequest, WaitingForTurn {
  readonly incoming: IncomingMessage
  readonly #serverResponse: ServerResponse
  readonly #connection: Connection
  readonly #context: RequestContext
  readonly #upgrade: Parameters<RespondToUpgrade>[2]
  readonly #framing: Framing
  /** A problem: the request is not valid. */
  readonly #request: NodeRequest | Problem

  constructor(
    incoming: IncomingMessage,
    serverResponse: ServerResponse,
    connection: Connection,
    context: RequestContext,
    upgrade: Parameters<RespondToUpgrade>[2],
  ) {
    this.incoming = incoming
    this.#serverResponse = serverResponse
    this.#connection = connection
    this.#context = context
    this.#upgrade = upgrade
    this.#framing = readFraming(incoming.rawHeaders)
    this.#request = readRequest(incoming, this.#framing, connection, context)
    if (upgrade && !(this.#request instanceof Problem)) offerWebSocket(this.#request)
    if (hasBody(this.#framing)) countChunks(incoming)
    context.drain.started()
    serverResponse.on('close', () => this.#onClose())
  }

  get hasLeft(): boolean {
    return this.incoming.socket.destroyed
  }

  takeTurn(): void {
    if (mayBegin(this.#request instanceof Problem ? undefined : this.#request, this)) this.#begin()
  }

  begin(refusal?: Problem): void {
    queueMicrotask(() => this.#begin(refusal))
  }

  #begin(refusal?: Problem): void {
    if (this.hasLeft) return
    try {
      const done = this.#respond(refusal)
      if (isPromise(done)) done.catch(() => this.#closeConnection())
    } catch {
      this.#closeConnection()
    }
  }

  #respond(refusal: Problem | undefined): Awaitable<void> {
    const request = this.#request
    const problem = request instanceof Problem ? request : refusal
    const body = request instanceof Problem ? undefined : this.#receiveBody(request)
    const response = problem ? this.#rejectionOf(problem) : this.#context.handle(request as NodeRequest)
    const sent = andThen(response, (response) => this.#send(response))
    return andThen(sent, () => {
      body?.discard()
      return this.#serverResponse.writableLength === 0 ? undefined : this.#waitForReader('close')
    })
  }

  #rejectionOf(problem: Problem): Response {
    const { options } = this.#context
    return options.renderRejection?.(problem, this.incoming.url ?? '') ?? problem.toResponse()
  }

  /** Creates the body of a request that has one. It is read on demand. */
  #receiveBody(request: NodeRequest): IncomingBody | undefined {
    if (!hasBody(this.#framing)) return undefined
    const { timeouts, timers, options, expectsContinue } = this.#context
    const { contentLength } = this.#framing
    const length = contentLength === undefined ? undefined : Number(contentLength)
    const limits = {
      length,
      stallMs: timeouts.bodyStallMs,
      totalMs: Math.max(timeouts.bodyMs, (length ?? 0) / minBytesPerMs),
      discard: { maxBytes: maxUnreadBytes, ms: timeouts.unreadBodyMs },
    }
    const onFirstRead = () => expectsContinue && this.#serverResponse.writeContinue()
    const body = createBody(this.incoming, limits, timers, onFirstRead)
    const { method } = request
    if (method !== 'GET' && method !== 'HEAD') request.setBody(body)
    else if (method === 'GET' && options.getBodies !== false) attachBody(request, body.stream())
    return body
  }

  #send(response: Response): Awaitable<void> {
    const upgrade = this.#upgrade
    const { drain, webSockets } = this.#context
    const acceptance = upgrade && webSocketAcceptanceOf(response)
    if (acceptance) return webSockets.open(upgrade, acceptance, () => this.#onClose())
    upgrade?.sendResponse()
    const serverResponse = this.#serverResponse
    // Tells a keep-alive client not to send its next request on this connection (RFC 9112 section 9.6).
    if (drain.isStopping) serverResponse.setHeader('connection', 'close')
    const isHead = this.incoming.method === 'HEAD'
    return sendResponse(response, serverResponse, isHead, (event) => this.#waitForReader(event))
  }

  /** Waits until the caller has read the buffered bytes. They count as bytes in flight until then. */
  async #waitForReader(event: SendEvent): Promise<void> {
    const serverResponse = this.#serverResponse
    const { timeouts, timers } = this.#context
    const inFlight = this.#request instanceof Problem ? undefined : inFlightOf(this.#request)
    inFlight?.sending(serverResponse.writableLength)
    const { responseStallMs: stallMs, responseMs: totalMs } = timeouts
    await waitUntilSent(serverResponse, event, { stallMs, totalMs }, timers)
    inFlight?.sent()
  }

  #onClose(): void {
    const connection = this.#connection
    connection.pendingResponses--
    const next = connection.waiting.shift()
    if (next) queueMicrotask(() => next.takeTurn())
    this.#context.drain.ended()
    if (!this.#serverResponse.writableFinished && !(this.#request instanceof Problem)) this.#request.abort()
  }

  #closeConnection(): void {
    const upgrade = this.#upgrade
    if (upgrade) upgrade.socket.destroy()
    else this.#serverResponse.destroy()
  }
}

const readRequest = (
  { method = 'GET', url: target = '', rawHeaders, httpVersion }: IncomingMessage,
  framing: Framing,
  { address }: Connection,
  { originOf }: RequestContext,
): NodeRequest | Problem => {
  const problem = checkFraming(framing, httpVersion === '1.0')
  if (problem) return problem
  try {
    const request = createRequest({ method, origin: originOf(framing.host), target, rawHeaders })
    setPeerAddress(request, address)
    return request
  } catch {
    return new Problem(400, 'request is not valid', { headers: { connection: 'close' } })
  }
}
