import { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { clearImmediate, setImmediate } from 'node:timers'
import { Chunks } from '../../plugins/shared/bytes.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import type { Wait, Waits } from '../../plugins/shared/waits.ts'

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
const mostChunks = 256
/** What a chunk that is dropped costs besides its bytes, in bytes. */
const chunkCost = 256

const left = () => new Error('the caller left in the middle of its request')

/** @param begin called before the first byte is wanted, for callers that wait for it (RFC 9110 section 10.1.1) */
export const createBody = (
  incoming: IncomingMessage,
  limits: BodyLimits,
  waits: Waits,
  begin: () => void,
): IncomingBody => {
  let reader: Reader | undefined
  let begun = false
  let over = false
  let endsAt = 0

  // What arrives in one turn is one chunk: a caller may send each byte as one of its own.
  let arrived: Uint8Array[] = []
  let turn: NodeJS.Immediate | undefined
  const take = (): readonly Uint8Array[] => {
    clearImmediate(turn)
    turn = undefined
    const chunks = arrived
    arrived = []
    return chunks
  }

  const end = (error?: Error) => {
    if (over) return
    over = true
    waits.delete(wait)
    if (error) take()
    const last = reader
    // It holds what it has read.
    reader = undefined
    last?.end(error)
  }
  const wait = {
    until: 0,
    over() {
      end(new Problem(408, 'request body did not arrive in time', { headers: { connection: 'close' } }))
    },
  } satisfies Wait
  const expect = () => {
    wait.until = Math.min(performance.now() + limits.stallMs, endsAt)
  }

  incoming.once('end', () => end())
  incoming.once('error', end)
  incoming.once('close', () => end(left()))

  const resume = () => {
    if (over) return
    if (!begun) {
      begun = true
      begin()
      endsAt = performance.now() + limits.wholeMs
      incoming.on('data', (chunk: Uint8Array) => {
        if (over) return
        expect()
        reader?.data(chunk)
      })
    }
    expect()
    waits.add(wait)
    incoming.resume()
  }
  const pause = () => {
    waits.delete(wait)
    incoming.pause()
  }
  /** @param pass takes what has arrived in this turn */
  const arrive = (pass: () => void) => (chunk: Uint8Array) => {
    arrived.push(chunk)
    turn ??= setImmediate(pass)
    // Or else the runtime reads on in this very turn for as long as there is more.
    if (arrived.length === mostChunks) pause()
  }
  let asked = false
  const ask = () => {
    if (asked) throw new TypeError('the body has been asked for already')
    asked = true
  }

  return {
    // Not `Readable.toWeb`, which on Deno ends the process when the stream is cancelled with more to come.
    stream() {
      ask()
      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            const pass = () => {
              const [chunk, ...more] = take()
              if (chunk) controller.enqueue(more.length === 0 ? chunk : Buffer.concat([chunk, ...more]))
              if ((controller.desiredSize ?? 0) <= 0) pause()
            }
            reader = {
              data: arrive(pass),
              end(error) {
                if (error) return controller.error(error)
                pass()
                controller.close()
              },
            }
          },
          pull: resume,
          cancel() {
            reader = undefined
            take()
            pause()
          },
        },
        { highWaterMark: 0 },
      )
    },

    async whole() {
      ask()
      if (over) throw left()
      const chunks = new Chunks()
      const pass = () => {
        for (const chunk of take()) chunks.push(chunk)
        resume()
      }
      await new Promise<void>((resolve, reject) => {
        reader = { data: arrive(pass), end: (error) => (error ? reject(error) : resolve()) }
        resume()
      })
      pass()
      return chunks.join()
    },

    dismiss() {
      if (over) return
      let left = limits.unwanted.maxBytes
      const leave = () => {
        waits.delete(last)
        incoming.socket.destroy()
      }
      const last = { until: performance.now() + limits.unwanted.ms, over: leave }
      take()
      waits.delete(wait)
      waits.add(last)
      reader = { data() {}, end: () => waits.delete(last) }
      incoming.on('data', (chunk: Uint8Array) => {
        left -= chunk.length + chunkCost
        if (left < 0) leave()
      })
      incoming.resume()
    },
  }
}
