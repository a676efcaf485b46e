import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** What the server knows about a connection. */
export interface Connection {
  readonly address: string | undefined
  /** Number of requests whose responses are not sent yet. */
  pendingResponses: number
  /** The pipelined requests that wait for the earlier responses. */
  readonly waiting: PipelinedRequest[]
}

export interface PipelinedRequest {
  readonly incoming: IncomingMessage
  /** The earlier responses are sent: handles the request when it has its turn of the event loop. */
  takeTurn(): void
}

const connections = new WeakMap<Socket, Connection>()

export const connectionOf = (socket: Socket): Connection => {
  let connection = connections.get(socket)
  if (!connection) {
    connection = { address: socket.remoteAddress, pendingResponses: 0, waiting: [] }
    connections.set(socket, connection)
  }
  return connection
}

/**
 * Closes a connection, and drops the requests that it has sent already.
 *
 * Deno (2.9.6) creates an object for each further request in what it has read, also when the connection is closed. The
 * runtime sets this member of its parser anew for the next connection.
 */
export const closeAndDropRequests = (socket: Socket & { readonly parser?: Parser | null }): void => {
  const { parser } = socket
  socket.destroy()
  if (parser?.onIncoming) parser.onIncoming = () => 0
  // Else the runtime does so, each with an error, whose stack costs more than all else of such a request.
  for (const { incoming } of connectionOf(socket).waiting) incoming.destroy()
}

/** A part of the undocumented parser of `node:http`. */
interface Parser {
  onIncoming?: () => number
}
