import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import {
  asksForWebSocket,
  type HandleRequest,
  isWebSocketHandshake,
  maxBufferedBytes,
  type WebSocketAcceptance,
  type WebSocketListener,
} from '../../plugins/shared/http/web-socket.ts'

/** Whether the package `ws`, an optional peer dependency, is installed. Bun contains it. */
export const hasWebSocketServer = async (): Promise<boolean> => (await load()) !== undefined

const load = () => {
  loading ??= import('ws').then(
    ({ WebSocketServer }) => WebSocketServer,
    () => undefined,
  )
  return loading
}

let loading: Promise<typeof import('ws').WebSocketServer | undefined> | undefined

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
  #isStopping = false

  constructor(handle: HandleRequest) {
    this.#handle = handle
  }

  /** Sends the response to the handshake. @param onClose called once, when the connection has closed */
  async open({ incoming, socket, head }: Upgrade, acceptance: WebSocketAcceptance, onClose: () => void): Promise<void> {
    socket.once('close', onClose)
    const Server = await load()
    if (!Server || socket.destroyed) return void socket.destroy()
    const server = new Server({
      noServer: true,
      clientTracking: false,
      // Compression costs CPU and memory for each connection, and a short message could take much memory.
      perMessageDeflate: false,
      maxPayload: acceptance.maxMessageBytes,
    })
    server.handleUpgrade(incoming, socket, head, (webSocket) => {
      /** Resolve when the peer has read the buffered bytes. */
      const waiting = new Set<() => void>()
      const whenOpen = (act: () => void) => {
        if (webSocket.readyState === webSocket.OPEN) act()
      }
      const send = (text: string) => {
        if (webSocket.readyState !== webSocket.OPEN) return undefined
        if (webSocket.bufferedAmount < maxBufferedBytes) return void webSocket.send(text)
        return new Promise<void>((resolve) => {
          const done = () => {
            waiting.delete(done)
            resolve()
          }
          waiting.add(done)
          webSocket.send(text, done)
        })
      }
      const listener = acceptance.onOpen(
        {
          send,
          ping: () => whenOpen(() => webSocket.ping()),
          close: (code, reason) => whenOpen(() => webSocket.close(code, reason)),
          terminate: () => webSocket.terminate(),
        },
        this.#handle,
      )
      this.#listeners.add(listener)
      webSocket.on('message', (data, isBinary) => listener.onMessage(isBinary ? undefined : String(data)))
      webSocket.on('pong', () => listener.onPong())
      // The connection closes after each error.
      webSocket.on('error', () => {})
      webSocket.on('close', () => {
        this.#listeners.delete(listener)
        for (const done of waiting) done()
        listener.onClose()
      })
      if (this.#isStopping) listener.onStop()
    })
  }

  /** Tells all connections that the server stops. */
  stop(): void {
    this.#isStopping = true
    for (const listener of this.#listeners) listener.onStop()
  }
}
