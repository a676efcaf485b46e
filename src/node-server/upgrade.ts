import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { connectionOf } from './connection.ts'
import { checkFraming, hasBody, readFraming } from './framing.ts'

/**
 * Takes over the connection of a request that asks for another protocol, and returns true. The arguments are those of the `upgrade` event of
 * `node:http`. If it returns false, the app responds as if the request had no `Upgrade` (RFC 9110 section 7.8).
 *
 * It is called only for valid requests without a body. If it throws, the connection is closed. A connection with another protocol has no timeouts;
 * `stop` closes it, after the last response to a request.
 */
export type OnUpgrade = (incoming: IncomingMessage, socket: Socket, head: Buffer) => boolean

/** Creates a listener for `upgrade`. @param respond responds to requests that do not change the protocol; then their connections close */
export const createUpgradeListener =
  (onUpgrade: OnUpgrade, respond: RequestListener) =>
  (incoming: IncomingMessage, socket: Socket, head: Buffer): void => {
    // The runtime no longer listens to errors, and an error without a listener ends the process.
    socket.on('error', () => {})
    // The other protocol would mix with the responses to earlier requests.
    if (connectionOf(socket).pendingResponses > 0) return void socket.destroy()
    try {
      if (mayUpgrade(incoming) && onUpgrade(incoming, socket, head)) return
    } catch {
      return void socket.destroy()
    }
    const serverResponse = new ServerResponse(incoming)
    serverResponse.assignSocket(socket)
    // The runtime reads no further requests from this connection.
    serverResponse.shouldKeepAlive = false
    serverResponse.on('finish', () => socket.end())
    respond(incoming, serverResponse)
  }

/** HTTP/1.0 has no upgrades (RFC 9110 section 7.8), and the protocol changes only after the whole request. */
const mayUpgrade = ({ rawHeaders, httpVersion }: IncomingMessage): boolean => {
  const framing = readFraming(rawHeaders)
  return httpVersion !== '1.0' && !hasBody(framing) && !checkFraming(framing)
}
