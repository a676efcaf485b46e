import type { Clock } from '../../shared/clock.ts'
import { copyPeerAddress } from '../../shared/http/client-address.ts'
import { inFlightOf } from '../../shared/http/in-flight.ts'
import type { RequireSameOrigin } from '../../shared/http/origin.ts'
import { messageTurn } from '../../shared/http/turn/request-turn.ts'
import {
  asksForWebSocket,
  type BunWebSocketData,
  bunWebSocketData,
  isWebSocketOffered,
  webSocketResponse,
} from '../../shared/http/web-socket.ts'
import type { WhenRevoked } from '../../shared/identity/revocation.ts'
import type { Log } from '../../shared/problem.ts'
import { TextProblem } from '../protocol/problem.ts'
import { ResponsesConnection } from './connection.ts'

export interface ConnectOptions {
  readonly requireSameOrigin: RequireSameOrigin | undefined
  readonly maxBodyBytes: number
  readonly clock: Clock
  readonly log: Log
}

/** The parts of Bun's server that are used: the `server` in the context of an Elysia app that listens on Bun. */
export interface BunServer {
  upgrade(request: Request, options: { readonly data: BunWebSocketData }): boolean
  fetch(request: Request): Response | Promise<Response>
}

/**
 * Handles `GET /v1/responses`: opens a WebSocket connection for an authenticated caller.
 *
 * The server is `createNodeServer`, the default server, or on Bun the server of an Elysia app. Throws TextProblem 426
 * where none of them can open it, and for a request without `Upgrade: websocket`; Problem 429 or 503 when there are too
 * many connections.
 */
export const connectResponses = (
  request: Request,
  {
    whenRevoked,
    server,
  }: { readonly whenRevoked: WhenRevoked | undefined; readonly server: BunServer | null | undefined },
  { requireSameOrigin, ...options }: ConnectOptions,
): Response => {
  const isOffered = isWebSocketOffered(request)
  const wantsWebSocket = asksForWebSocket(request.headers.get('upgrade'))
  if (!wantsWebSocket) throw useWebSocket
  if (!isOffered && typeof server?.upgrade !== 'function') throw useHttp
  // A browser sends cookies also with the handshake of a foreign page (RFC 6455 section 10.2).
  requireSameOrigin?.(request)
  const connection = new ResponsesConnection({
    ...options,
    whenRevoked,
    inFlight: inFlightOf(request),
    takeTurn: (hasLeft) => messageTurn(request, hasLeft),
    requestFor: requestsLike(request),
  })
  if (isOffered || !server) return webSocketResponse(connection)
  const data = bunWebSocketData(connection, (message) => server.fetch(message))
  if (server.upgrade(request, { data })) return webSocketResponse(connection)
  connection.onClose()
  throw useHttp
}

/**
 * Creates the requests for messages. They have the headers of the handshake, with which the caller has authenticated.
 */
const requestsLike = (handshake: Request) => {
  const { url } = handshake
  const headers = new Headers({ 'content-type': 'application/json', accept: 'text/event-stream' })
  for (const [name, value] of handshake.headers) if (!ofHandshake.test(name)) headers.append(name, value)
  return (body: Uint8Array, signal: AbortSignal): Request => {
    const length = String(body.length)
    const request = new Request(url, { method: 'POST', headers, body: body as Uint8Array<ArrayBuffer>, signal })
    request.headers.set('content-length', length)
    copyPeerAddress(handshake, request)
    return request
  }
}

/** Headers of the handshake, of its connection, and of a single request. */
const ofHandshake =
  /^(?:connection|upgrade|sec-websocket-.*|host|keep-alive|proxy-connection|te|trailer|transfer-encoding|expect|accept|accept-encoding|content-.*|x-request-id|idempotency-key)$/

const useHttp = new TextProblem(426, 'WebSocket is not available here; send POST /responses over HTTP', {
  code: 'upgrade_required',
  // RFC 9110 section 15.5.22, and RFC 6455 section 4.4.
  headers: { connection: 'Upgrade', upgrade: 'HTTP/1.1', 'sec-websocket-version': '13' },
})

const useWebSocket = new TextProblem(426, 'GET is for WebSocket only; send POST to create a response over HTTP', {
  code: 'upgrade_required',
  headers: { connection: 'Upgrade', upgrade: 'websocket' },
})
