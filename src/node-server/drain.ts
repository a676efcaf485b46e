import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterReading } from '../../plugins/shared/background/turns.ts'

/** How a server stops. */
export interface StopOptions {
  /** Whether to close all connections at once, also those with a request in flight. Default false. */
  readonly closeActiveConnections?: boolean
  /**
   * How long it still accepts connections, with `Connection: close` in each response, so that a proxy in front notices
   * that it stops before a connection is refused. In milliseconds, default 0. While the process gets no processor time,
   * and so cannot tell the proxy, they do not pass.
   */
  readonly graceMs?: number
  /** Called after `graceMs`. The server stops listening when it has resolved. It must not reject. */
  readonly beforeClose?: () => Promise<unknown>
  /** Maximum time that requests in flight have to finish, in milliseconds. Default: no limit. */
  readonly drainMs?: number
}

/** Counts the requests in flight of a server, so that it can stop gracefully. */
export class Drain {
  readonly #server: Server
  readonly #onClosing: () => void
  readonly #stopped = Promise.withResolvers<void>()
  readonly #sockets = new Set<Socket>()
  #openRequests = 0
  #isStopping = false
  #isListening = true
  /** Number of calls of `stop`. The latest one counts. */
  #stops = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param onClosing called when the server stops to listen */
  constructor(server: Server, onClosing: () => void) {
    this.#server = server
    this.#onClosing = onClosing
    const onConnection = (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    }
    server.on('connection', onConnection).on('secureConnection', onConnection)
  }

  /** Whether connections must not be used again. */
  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Call it for each request, and `ended` when its response has closed. */
  started(): void {
    this.#openRequests++
  }

  ended(): void {
    this.#openRequests--
    if (!this.#isListening && this.#openRequests === 0) this.#close()
  }

  /** Stops the server. Resolves when all connections are closed. */
  stop({ graceMs = 0, beforeClose, ...options }: StopOptions = {}): Promise<void> {
    this.#isStopping = true
    const stop = ++this.#stops
    const close = () => {
      if (stop === this.#stops) this.#stopListening(options)
    }
    // The runtime closes idle connections with the listening socket, also those on which a request has arrived that it
    // has not read.
    const closeWhenRead = () => afterReading(close)
    const afterGrace = () => (beforeClose ? void beforeClose().finally(closeWhenRead) : closeWhenRead())
    if (!this.#isListening || options.closeActiveConnections) close()
    else if (graceMs > 0) void passGrace(graceMs, () => stop === this.#stops).then((isOver) => isOver && afterGrace())
    else afterGrace()
    return this.#stopped.promise
  }

  #stopListening({ closeActiveConnections = false, drainMs = Number.POSITIVE_INFINITY }: StopOptions): void {
    if (this.#isListening) {
      this.#isListening = false
      this.#server.close()
      this.#onClosing()
    }
    if (this.#openRequests === 0) this.#close()
    else if (closeActiveConnections) this.#abort()
    else if (drainMs <= longestTimeoutMs) this.#setTimer(() => this.#abort(), drainMs)
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

/**
 * Passes a time in steps, each of which is a turn of the event loop, in which the process answers those who ask whether
 * it is ready. Resolves with false when it no longer `goesOn`.
 */
export const passGrace = async (ms: number, goesOn: () => boolean = () => true): Promise<boolean> => {
  for (let left = ms; left > 0 && goesOn(); left -= graceStepMs) await delay(Math.min(left, graceStepMs))
  return goesOn()
}

const graceStepMs = 100

/** How long to wait for the close events. They normally come at once. */
const closeTimeoutMs = 1_000
/** A longer timeout would expire at once. */
const longestTimeoutMs = 2 ** 31 - 1
