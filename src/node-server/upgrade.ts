import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { connectionOf } from './connection.ts'
import { checkFraming, hasBody, readFraming } from './framing.ts'
import { canOpenWebSocket, type Upgrade } from './web-socket/web-socket.ts'

/**
 * Takes over the connection of a request that asks for another protocol, and returns true. The arguments are those of
 * the `upgrade` event of `node:http`. If it returns false, the app responds as if the request had no `Upgrade` (RFC
 * 9110 section 7.8).
 *
 * It is called only for valid requests without a body. If it throws, the connection is closed. A connection with
 * another protocol has no timeouts; `stop` closes it, after the last response to a request.
 */
export type OnUpgrade = (incoming: IncomingMessage, socket: Socket, head: Buffer) => boolean

/**
 * Responds to a request.
 *
 * @param upgrade if given, the app may accept a WebSocket connection instead; the response must then not be sent
 */
export type RespondToUpgrade = (
  ...args: [...Parameters<RequestListener>, upgrade: (Upgrade & { sendResponse(): void }) | undefined]
) => void

/** Creates a listener for `upgrade`. If the protocol does not change, the connection closes after the response. */
export const createUpgradeListener =
  (onUpgrade: OnUpgrade | undefined, respond: RespondToUpgrade) =>
  (incoming: IncomingMessage, socket: Socket, head: Buffer): void => {
    // The runtime no longer listens to errors, and an error without a listener ends the process.
    socket.on('error', () => {})
    // The other protocol would mix with the responses to earlier requests.
    if (connectionOf(socket).pendingResponses > 0) return void socket.destroy()
    const mayChange = mayUpgrade(incoming)
    try {
      if (mayChange && onUpgrade?.(incoming, socket, head)) return
    } catch {
      return void socket.destroy()
    }
    const serverResponse = new ServerResponse(incoming)
    // The runtime reads no further requests from this connection.
    serverResponse.shouldKeepAlive = false
    serverResponse.on('finish', () => socket.end())
    const sendResponse = () => serverResponse.assignSocket(socket)
    if (mayChange && canOpenWebSocket(incoming)) {
      respond(incoming, serverResponse, { incoming, socket, head, sendResponse })
    } else {
      sendResponse()
      respond(incoming, serverResponse, undefined)
    }
  }

/** HTTP/1.0 has no upgrades (RFC 9110 section 7.8), and the protocol changes only after the whole request. */
const mayUpgrade = ({ rawHeaders, httpVersion }: IncomingMessage): boolean => {
  const framing = readFraming(rawHeaders)
  return httpVersion !== '1.0' && !hasBody(framing) && !checkFraming(framing)
}
