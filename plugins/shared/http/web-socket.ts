import type { Awaitable } from '../awaitable.ts'

/** An open WebSocket connection, from a server. After it has closed, the methods do nothing. */
export interface WebSocketConnection {
  /**
   * Sends a text message. A promise applies backpressure: it resolves when the peer has read enough or the connection
   * has closed.
   */
  send(text: string): Promise<void> | undefined
  ping(): void
  /** Starts the closing handshake (RFC 6455 section 7.1.2). */
  close(code: number, reason: string): void
  /** Closes the connection without a handshake. */
  terminate(): void
}

/** What a server reports about a connection. The methods must not throw. */
export interface WebSocketListener {
  /** @param text undefined for a binary message */
  onMessage(text: string | undefined): void
  /** Bytes of an unfinished message that the server holds; 0 when it is complete. Not every server reports them. */
  onPart?(bytes: number): void
  onPong(): void
  /** Called once. */
  onClose(): void
  /** The server stops. It waits until the listener has closed the connection. */
  onStop(): void
}

/** Handles a request as if it came from outside. */
export type HandleRequest = (request: Request) => Awaitable<Response>

/** Accepts a WebSocket connection. */
export interface WebSocketAcceptance {
  /**
   * A longer message closes the connection with code 1009, if the server allows the limit to be set for each
   * connection.
   */
  readonly maxMessageBytes: number
  /**
   * Called once when the connection is open.
   *
   * @param handle handles a request with the whole app, and with its limits
   */
  onOpen(connection: WebSocketConnection, handle: HandleRequest): WebSocketListener
}

const offered = Symbol('WebSocket is offered')

type Offered = Request & { [offered]?: true }

/**
 * Marks a request that asks for WebSocket, for a server that can open the connection.
 *
 * If the app then returns the response of `webSocketResponse`, the server opens the connection. It sends any other
 * response.
 */
export const offerWebSocket = (request: Offered): void => {
  request[offered] = true
}

export const isWebSocketOffered = (request: Offered): boolean => request[offered] === true

const acceptances = new WeakMap<Response, WebSocketAcceptance>()

/** The response that accepts an offered WebSocket connection. Its status is 101, for logs and metrics. */
export const webSocketResponse = (acceptance: WebSocketAcceptance): Response => {
  // The constructor rejects status 101 (Fetch Standard, section 5.5).
  const response = Object.defineProperty(new Response(null), 'status', { value: 101 })
  acceptances.set(response, acceptance)
  return response
}

/** The acceptance in a response of `webSocketResponse`; undefined for any other response. */
export const webSocketAcceptanceOf = (response: Response): WebSocketAcceptance | undefined => acceptances.get(response)

/** Whether a request asks for WebSocket (RFC 6455 section 4.2.1). */
export const asksForWebSocket = (upgrade: string | null | undefined): boolean =>
  upgrade?.split(',').some((protocol) => protocol.trim().toLowerCase() === 'websocket') ?? false

/** Whether a server can open the connection with these header values (RFC 6455 section 4.2.1). */
export const isWebSocketHandshake = (version: string | null | undefined, key: string | null | undefined): boolean =>
  version === '13' && key !== null && key !== undefined && /^[+/\dA-Za-z]{22}==$/.test(key)

/** Maximum length of a message, in bytes. A server may have a lower limit. */
export const maxWebSocketTextBytes = 2 ** 24

/** Bytes that a server buffers for a slow reader before `send` returns a promise. */
export const maxBufferedBytes = 2 ** 16

/** The parts of Bun's `ServerWebSocket` that are used. */
export interface BunWebSocket {
  sendText(text: string): number
  getBufferedAmount(): number
  ping(): void
  close(code?: number, reason?: string): void
  terminate(): void
}

/**
 * Handlers of one connection: the `data` of `server.upgrade`. Elysia's WebSocket handlers call those of the `data`,
 * too.
 */
export interface BunWebSocketData {
  open(socket: BunWebSocket): void
  message(socket: BunWebSocket, message: unknown): void
  drain(): void
  pong(): void
  close(): void
}

/** @param onListener receives the listener of the connection when it opens, and undefined when it closes */
export const bunWebSocketData = (
  { onOpen }: Pick<WebSocketAcceptance, 'onOpen'>,
  handle: HandleRequest,
  onListener: (listener: WebSocketListener, isOpen: boolean) => void = () => {},
): BunWebSocketData => {
  let listener: WebSocketListener | undefined
  let isOpen = true
  let drained: PromiseWithResolvers<void> | undefined
  const resume = () => {
    drained?.resolve()
    drained = undefined
  }
  return {
    open(socket) {
      const whenOpen = (act: () => void) => {
        if (isOpen) act()
      }
      listener = onOpen(
        {
          send(text) {
            if (!isOpen) return undefined
            const sent = socket.sendText(text)
            // Bun has dropped the message. The next one would be misunderstood.
            if (sent === 0) socket.terminate()
            if (sent !== -1 && socket.getBufferedAmount() < maxBufferedBytes) return undefined
            drained ??= Promise.withResolvers()
            return drained.promise
          },
          ping: () => whenOpen(() => socket.ping()),
          close: (code, reason) => whenOpen(() => socket.close(code, reason)),
          terminate: () => whenOpen(() => socket.terminate()),
        },
        handle,
      )
      onListener(listener, true)
    },
    message: (_, message) => listener?.onMessage(typeof message === 'string' ? message : undefined),
    drain: resume,
    pong: () => listener?.onPong(),
    close() {
      isOpen = false
      resume()
      if (!listener) return
      onListener(listener, false)
      listener.onClose()
    },
  }
}
