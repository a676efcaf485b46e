import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** How a server stops. */
export interface StopOptions {
  /** Whether to close all connections at once, also those with a request in flight. Default false. */
  readonly closeActiveConnections?: boolean
  /** Maximum time that requests in flight have to finish, in milliseconds. Default: no limit. */
  readonly drainMs?: number
}

/** Counts the requests in flight of a server, so that it can stop gracefully. */
export class Drain {
  readonly #server: Server
  readonly #stopped = Promise.withResolvers<void>()
  readonly #sockets = new Set<Socket>()
  #openRequests = 0
  #isStopping = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(server: Server) {
    this.#server = server
    const onConnection = (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    }
    server.on('connection', onConnection).on('secureConnection', onConnection)
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Call it for each request, and `ended` when its response has closed. */
  started(): void {
    this.#openRequests++
  }

  ended(): void {
    this.#openRequests--
    if (this.#isStopping && this.#openRequests === 0) this.#close()
  }

  /** Stops the server. Resolves when all connections are closed. */
  stop({ closeActiveConnections = false, drainMs = Number.POSITIVE_INFINITY }: StopOptions = {}): Promise<void> {
    if (!this.#isStopping) this.#server.close()
    this.#isStopping = true
    if (this.#openRequests === 0) this.#close()
    else if (closeActiveConnections) this.#abort()
    else if (drainMs <= longestTimeoutMs) this.#setTimer(() => this.#abort(), drainMs)
    return this.#stopped.promise
  }

  #abort(): void {
    this.#closeConnections()
    // The requests that are cut off get their close events before `stop` resolves, so that their usage is recorded.
    this.#setTimer(() => this.#stopped.resolve(), closeTimeoutMs)
  }

  #setTimer(onTimeout: () => void, ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(onTimeout, ms)
  }

  #close(): void {
    clearTimeout(this.#timer)
    this.#closeConnections()
    this.#stopped.resolve()
  }

  #closeConnections(): void {
    // Not `closeAllConnections`, which keeps connections that have changed their protocol.
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** How long to wait for the close events. They normally come at once. */
const closeTimeoutMs = 1_000
/** A longer timeout would expire at once. */
const longestTimeoutMs = 2 ** 31 - 1
