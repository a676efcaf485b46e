import { type HandleRequest, maxBufferedBytes, type WebSocketAcceptance, type WebSocketListener } from './web-socket.ts'

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
