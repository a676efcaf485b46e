import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import {
  asksForWebSocket,
  type HandleRequest,
  isWebSocketHandshake,
  type WebSocketAcceptance,
  type WebSocketListener,
} from '../../../plugins/shared/http/web-socket.ts'
import { handshakeResponse, type Linger, ServerSocket } from './server-socket.ts'

/** Whether the connection can become a WebSocket connection. */
export const canOpenWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' &&
  asksForWebSocket(headers.upgrade) &&
  isWebSocketHandshake(headers['sec-websocket-version'], headers['sec-websocket-key'])

/** The arguments of the `upgrade` event of `node:http`. */
export interface Upgrade {
  readonly incoming: IncomingMessage
  readonly socket: Socket
  readonly head: Buffer
}

/** Opens the connections of one server. */
export class WebSockets {
  readonly #listeners = new Set<WebSocketListener>()
  readonly #handle: HandleRequest
  readonly #linger: Linger
  #isStopping = false

  constructor(handle: HandleRequest, linger: Linger) {
    this.#handle = handle
    this.#linger = linger
  }

  /** Sends the response to the handshake. @param onClose called once, when the connection has closed */
  open({ incoming, socket, head }: Upgrade, acceptance: WebSocketAcceptance, onClose: () => void): void {
    socket.once('close', onClose)
    if (socket.destroyed) return
    const opened = new ServerSocket(socket, acceptance.maxMessageBytes, this.#linger)
    socket.setTimeout(0)
    socket.setNoDelay(true)
    socket.write(handshakeResponse(incoming))
    const listener = acceptance.onOpen(opened, this.#handle)
    this.#listeners.add(listener)
    socket.once('close', () => this.#listeners.delete(listener))
    opened.listen(listener, head)
    if (this.#isStopping) listener.onStop()
  }

  /** Tells all connections that the server stops. */
  stop(): void {
    this.#isStopping = true
    for (const listener of this.#listeners) listener.onStop()
  }
}
