import type { Socket } from 'node:net'

/** What the server knows about a connection. */
export interface Connection {
  readonly address: string | undefined
  /** Number of requests whose responses are not sent yet. */
  pendingResponses: number
  /** The pipelined requests that wait for the earlier responses. */
  readonly waiting: (() => void)[]
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
