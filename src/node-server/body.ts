import { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers'
import type { CoarseTimer, CoarseTimers } from '../../plugins/shared/background/coarse-timers.ts'
import { afterIo, nextTurn } from '../../plugins/shared/background/turns.ts'
import { Chunks } from '../../plugins/shared/http/body/read-body.ts'
import { Problem } from '../../plugins/shared/problem.ts'

export interface BodyLimits {
  /** Its `Content-Length`, in bytes. Default: not known. */
  readonly length?: number | undefined
  /** Maximum wait for the next byte, in milliseconds. */
  readonly stallMs: number
  /** Maximum time for the whole body, in milliseconds. */
  readonly totalMs: number
  /**
   * How much of an unread body is read and discarded after the response, so that the caller can read the response and
   * reuse the connection.
   */
  readonly discard: { readonly maxBytes: number; readonly ms: number }
}

/**
 * The body of an incoming request. It is read only on demand and only once: a second `stream` or `bytes` throws
 * TypeError.
 */
export interface IncomingBody {
  /** The body as a stream with backpressure. It errors with Problem 408 when the rest does not arrive in time. */
  stream(): ReadableStream<Uint8Array>
  /**
   * The whole body, without a size limit: the caller must know the length. Cheaper than a stream for a short body, and
   * rejects with the same errors.
   */
  bytes(): Promise<Uint8Array>
  /**
   * Discards the unread rest, so that the connection's next request can be read; or closes the connection. Call it
   * after the response.
   */
  discard(): void
}

interface Consumer {
  data(chunk: Uint8Array): void
  /** Called once: at the end of the body, or with the error that ended it early. */
  end(error?: Error): void
}

/** Maximum number of chunks that are buffered in one turn of the event loop, and of their bytes. */
const maxPendingChunks = 256
const maxPendingBytes = 2 ** 18
/** What a chunk counts in addition to its bytes, so that many tiny chunks are a long body, and reach a limit, too. */
const chunkCost = 256

const disconnected = () => new Error('the caller disconnected before the end of the request body')

/** @param onFirstRead called before the first byte is read, to send `100 Continue` (RFC 9110 section 10.1.1) */
export const createBody = (
  incoming: IncomingMessage,
  limits: BodyLimits,
  timers: CoarseTimers,
  onFirstRead: () => void,
): IncomingBody => new Body(incoming, limits, timers, onFirstRead)

class Body implements IncomingBody, CoarseTimer {
  readonly #incoming: IncomingMessage
  readonly #limits: BodyLimits
  readonly #timers: CoarseTimers
  readonly #onFirstRead: () => void
  #consumer: Consumer | undefined
  #isLocked = false
  #hasStarted = false
  #hasEnded = false
  #totalDeadline = 0
  /** The chunks of this turn of the event loop. They are joined, because a caller may send each byte as a chunk. */
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  #receivedBytes = 0
  /** Bytes that have arrived, and the cost of their chunks. */
  #receivedCost = 0
  /** Whether the connection is paused too, because its chunks are tiny. */
  #isConnectionPaused = false
  /** Whether a later turn delivers the pending chunks. */
  #isDue = false
  /** Deadline for the next byte. */
  expiresAt = 0

  constructor(incoming: IncomingMessage, limits: BodyLimits, timers: CoarseTimers, onFirstRead: () => void) {
    this.#incoming = incoming
    this.#limits = limits
    this.#timers = timers
    this.#onFirstRead = onFirstRead
    incoming.on('end', this.#end)
    incoming.on('error', this.#end)
    incoming.on('close', this.#close)
  }

  // Not `Readable.toWeb`: on Deno it ends the process when the stream is cancelled before the end of the body.
  stream(): ReadableStream<Uint8Array> {
    this.#lock()
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          if (this.#hasEnded) return controller.error(disconnected())
          const deliver = () => {
            const [chunk, ...more] = this.#takePending()
            if (chunk) controller.enqueue(more.length === 0 ? chunk : Buffer.concat([chunk, ...more]))
            if ((controller.desiredSize ?? 0) <= 0) this.#pause()
          }
          this.#consumer = {
            data: (chunk) => this.#push(chunk, deliver),
            end(error) {
              if (error) return controller.error(error)
              deliver()
              controller.close()
            },
          }
        },
        pull: () => this.#readOn(),
        cancel: () => {
          this.#consumer = undefined
          this.#takePending()
          this.#pause()
        },
      },
      { highWaterMark: 0 },
    )
  }

  async bytes(): Promise<Uint8Array> {
    this.#lock()
    if (this.#hasEnded) throw disconnected()
    const chunks = new Chunks()
    const deliver = () => {
      for (const chunk of this.#takePending()) chunks.push(chunk)
      this.#readOn()
    }
    await new Promise<void>((resolve, reject) => {
      this.#consumer = {
        data: (chunk) => this.#push(chunk, deliver),
        end: (error) => (error ? reject(error) : resolve()),
      }
      this.#resume()
    })
    deliver()
    return chunks.join()
  }

  discard(): void {
    if (this.#hasEnded) return
    let remaining = this.#limits.discard.maxBytes
    const closeConnection = () => {
      this.#timers.delete(deadline)
      this.#incoming.socket.destroy()
    }
    const deadline = { expiresAt: performance.now() + this.#limits.discard.ms, onTimeout: closeConnection }
    this.#takePending()
    this.#resumeConnection()
    this.#timers.delete(this)
    this.#timers.add(deadline)
    this.#consumer = { data() {}, end: () => this.#timers.delete(deadline) }
    this.#incoming.on('data', (chunk: Uint8Array) => {
      remaining -= chunk.length + chunkCost
      if (remaining < 0) closeConnection()
    })
    this.#incoming.resume()
  }

  /** Called by the timers: the next byte did not arrive in time. */
  onTimeout(): void {
    this.#end(new Problem(408, 'request body did not arrive in time', { headers: { connection: 'close' } }))
  }

  readonly #close = (): void => {
    if (!this.#hasEnded) this.#end(disconnected())
  }

  readonly #end = (error?: Error): void => {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#resumeConnection()
    this.#timers.delete(this)
    if (error) this.#takePending()
    const consumer = this.#consumer
    // The consumer keeps the bytes that it has read in memory.
    this.#consumer = undefined
    consumer?.end(error)
  }

  #lock(): void {
    if (this.#isLocked) throw new TypeError('the body can be read only once')
    this.#isLocked = true
  }

  #takePending(): readonly Uint8Array[] {
    const chunks = this.#pending
    this.#pending = []
    this.#pendingBytes = 0
    return chunks
  }

  /** @param deliver takes the chunks that have arrived in this turn of the event loop */
  #push(chunk: Uint8Array, deliver: () => void): void {
    this.#pending.push(chunk)
    this.#pendingBytes += chunk.length
    this.#receivedBytes += chunk.length
    this.#receivedCost += chunk.length + chunkCost
    const isFull = this.#pending.length === maxPendingChunks || this.#pendingBytes >= maxPendingBytes
    // Without the pause, the runtime reads on in the same turn as long as there are bytes.
    if (isFull) this.#pause()
    if (this.#pending.length === maxPendingChunks) this.#pauseConnection()
    // After the last byte, the end follows in this turn, and delivers them.
    if (this.#isDue || (this.#receivedBytes === this.#limits.length && !isFull)) return
    this.#isDue = true
    const inTurn = this.#isLong() ? afterIo : setImmediate
    inTurn(() => {
      this.#isDue = false
      if (this.#pending.length > 0) deliver()
    })
  }

  #extendDeadline(): void {
    this.expiresAt = Math.min(performance.now() + this.#limits.stallMs, this.#totalDeadline)
  }

  #resume(): void {
    if (this.#hasEnded) return
    if (!this.#hasStarted) {
      this.#hasStarted = true
      this.#onFirstRead()
      this.#totalDeadline = performance.now() + this.#limits.totalMs
      this.#incoming.on('data', (chunk: Uint8Array) => {
        if (this.#hasEnded) return
        this.#extendDeadline()
        this.#consumer?.data(chunk)
      })
    }
    this.#extendDeadline()
    this.#timers.add(this)
    if (this.#incoming.readableLength === 0) this.#resumeConnection()
    this.#incoming.resume()
  }

  /**
   * Bun (1.4.5) reads up to 512 KiB at once, which can be 87,000 chunks, and many connections would do so in one turn.
   * So one whose chunks are tiny is paused; Bun reads on when less than 64 KiB of them wait.
   */
  #pauseConnection(): void {
    this.#isConnectionPaused = true
    this.#incoming.socket.pause()
  }

  #resumeConnection(): void {
    if (!this.#isConnectionPaused) return
    this.#isConnectionPaused = false
    this.#incoming.socket.resume()
  }

  /** Of all long bodies, one is read on in a turn of the event loop. */
  #readOn(): void {
    if (this.#isLong()) void nextTurn().then(() => this.#consumer && this.#resume())
    else this.#resume()
  }

  #isLong(): boolean {
    return this.#receivedCost >= maxPendingBytes
  }

  #pause(): void {
    this.#timers.delete(this)
    this.#incoming.pause()
  }
}
