import type { Socket } from 'node:net'

/** What the server knows about a connection. */
export interface Connection {
  readonly address: string | undefined
  /** Number of requests whose responses are not sent yet. */
  pendingResponses: number
}

const connections = new WeakMap<Socket, Connection>()

export const connectionOf = (socket: Socket): Connection => {
  let connection = connections.get(socket)
  if (!connection) {
    connection = { address: socket.remoteAddress, pendingResponses: 0 }
    connections.set(socket, connection)
  }
  return connection
}
