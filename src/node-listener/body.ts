import { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { clearImmediate, setImmediate } from 'node:timers'
import type { CoarseTimer, CoarseTimers } from '../../plugins/shared/coarse-timers.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { Chunks } from '../../plugins/shared/read-body.ts'

export interface BodyLimits {
  /** Milliseconds without a byte, while one is waited for, after which the rest is not waited for any longer. */
  readonly stallMs: number
  /** Milliseconds that a body may take altogether. */
  readonly wholeMs: number
  /** What is read and dropped, after the answer, of a body that nobody wanted: so that its sender gets to see the answer, and can go on with the connection. */
  readonly unwanted: { readonly maxBytes: number; readonly ms: number }
}

/** The body of a request on its way in. Nothing of it is read until it is wanted, as a stream or as a whole: both throw TypeError when it has been asked for already. */
export interface IncomingBody {
  /** As it arrives, no faster than it is read. Errors with Problem 408 when the rest does not arrive. */
  stream(): ReadableStream<Uint8Array>
  /** All of it, however much that is: for who knows how much. Rejects as a stream errors, which would cost more than all that is done with a short body. */
  whole(): Promise<Uint8Array>
  /** Gets what was not wanted out of the way of the connection's next request, or ends the connection. For when the answer has gone. */
  dismiss(): void
}

interface Reader {
  data(chunk: Uint8Array): void
  /** Called once: at the end, or when there will be none. */
  end(error?: Error): void
}

/** Chunks that are taken in one turn. */
const maxChunks = 256
/** What a chunk that is dropped costs besides its bytes, in bytes. */
const chunkCost = 256

const left = () => new Error('the caller left in the middle of its request')

/** @param begin called before the first byte is wanted, for callers that wait for it (RFC 9110 section 10.1.1) */
export const createBody = (
  incoming: IncomingMessage,
  limits: BodyLimits,
  waits: CoarseTimers,
  begin: () => void,
): IncomingBody => new Body(incoming, limits, waits, begin)

class Body implements IncomingBody, CoarseTimer {
  readonly #incoming: IncomingMessage
  readonly #limits: BodyLimits
  readonly #waits: CoarseTimers
  readonly #begin: () => void
  #reader: Reader | undefined
  #asked = false
  #begun = false
  #over = false
  #endsAt = 0
  /** What arrives in one turn is one chunk: a caller may send each byte as one of its own. */
  #arrived: Uint8Array[] = []
  #turn: NodeJS.Immediate | undefined
  /** For the next byte. */
  until = 0

  constructor(incoming: IncomingMessage, limits: BodyLimits, waits: CoarseTimers, begin: () => void) {
    this.#incoming = incoming
    this.#limits = limits
    this.#waits = waits
    this.#begin = begin
    incoming.on('end', this.#end)
    incoming.on('error', this.#end)
    incoming.on('close', this.#close)
  }

  // Not `Readable.toWeb`, which on Deno ends the process when the stream is cancelled with more to come.
  stream(): ReadableStream<Uint8Array> {
    this.#ask()
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const pass = () => {
            const [chunk, ...more] = this.#take()
            if (chunk) controller.enqueue(more.length === 0 ? chunk : Buffer.concat([chunk, ...more]))
            if ((controller.desiredSize ?? 0) <= 0) this.#pause()
          }
          this.#reader = {
            data: (chunk) => this.#arrive(chunk, pass),
            end(error) {
              if (error) return controller.error(error)
              pass()
              controller.close()
            },
          }
        },
        pull: () => this.#resume(),
        cancel: () => {
          this.#reader = undefined
          this.#take()
          this.#pause()
        },
      },
      { highWaterMark: 0 },
    )
  }

  async whole(): Promise<Uint8Array> {
    this.#ask()
    if (this.#over) throw left()
    const chunks = new Chunks()
    const pass = () => {
      for (const chunk of this.#take()) chunks.push(chunk)
      this.#resume()
    }
    await new Promise<void>((resolve, reject) => {
      this.#reader = {
        data: (chunk) => this.#arrive(chunk, pass),
        end: (error) => (error ? reject(error) : resolve()),
      }
      this.#resume()
    })
    pass()
    return chunks.join()
  }

  dismiss(): void {
    if (this.#over) return
    let left = this.#limits.unwanted.maxBytes
    const leave = () => {
      this.#waits.delete(last)
      this.#incoming.socket.destroy()
    }
    const last = { until: performance.now() + this.#limits.unwanted.ms, over: leave }
    this.#take()
    this.#waits.delete(this)
    this.#waits.add(last)
    this.#reader = { data() {}, end: () => this.#waits.delete(last) }
    this.#incoming.on('data', (chunk: Uint8Array) => {
      left -= chunk.length + chunkCost
      if (left < 0) leave()
    })
    this.#incoming.resume()
  }

  /** The next byte has not come in time. */
  over(): void {
    this.#end(new Problem(408, 'request body did not arrive in time', { headers: { connection: 'close' } }))
  }

  readonly #close = (): void => {
    if (!this.#over) this.#end(left())
  }

  readonly #end = (error?: Error): void => {
    if (this.#over) return
    this.#over = true
    this.#waits.delete(this)
    if (error) this.#take()
    const last = this.#reader
    // It holds what it has read.
    this.#reader = undefined
    last?.end(error)
  }

  #ask(): void {
    if (this.#asked) throw new TypeError('the body has been asked for already')
    this.#asked = true
  }

  #take(): readonly Uint8Array[] {
    clearImmediate(this.#turn)
    this.#turn = undefined
    const chunks = this.#arrived
    this.#arrived = []
    return chunks
  }

  /** @param pass takes what has arrived in this turn */
  #arrive(chunk: Uint8Array, pass: () => void): void {
    this.#arrived.push(chunk)
    this.#turn ??= setImmediate(pass)
    // Or else the runtime reads on in this very turn for as long as there is more.
    if (this.#arrived.length === maxChunks) this.#pause()
  }

  #expect(): void {
    this.until = Math.min(performance.now() + this.#limits.stallMs, this.#endsAt)
  }

  #resume(): void {
    if (this.#over) return
    if (!this.#begun) {
      this.#begun = true
      this.#begin()
      this.#endsAt = performance.now() + this.#limits.wholeMs
      this.#incoming.on('data', (chunk: Uint8Array) => {
        if (this.#over) return
        this.#expect()
        this.#reader?.data(chunk)
      })
    }
    this.#expect()
    this.#waits.add(this)
    this.#incoming.resume()
  }

  #pause(): void {
    this.#waits.delete(this)
    this.#incoming.pause()
  }
}
