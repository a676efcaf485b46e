import type { Awaitable } from '../shared/awaitable.ts'
import { nextTurn } from '../shared/background/turns.ts'
import { createFrameSplitter, type Frame, type FrameSplitter, type FrameSplitterOptions } from './frames.ts'

/** Reads a body frame by frame, with backpressure. */
export interface FrameReader {
  /**
   * Reads the next chunk and returns the frames that it completes, which may be none; undefined at the end. One call at
   * a time.
   *
   * Rejects with the error of the body, or with `EventTooLargeError`.
   */
  next(): Promise<readonly Frame[] | undefined>
  /** Cancels the body. A pending call of `next` resolves with undefined. Never rejects. */
  cancel(reason?: unknown): Promise<void>
}

/** Creates a reader of a body. `null`, the body of a response without one, is an empty stream. */
export const readFrames = (body: ReadableStream<Uint8Array> | null, options: FrameSplitterOptions = {}): FrameReader =>
  new BodyReader(body, options)

/** The common part of the stream readers of all runtimes. */
interface ChunkReader {
  read(): Promise<ReadResult>
  cancel(reason?: unknown): Promise<void>
}

type ReadResult = { readonly done: true } | { readonly done: false; readonly value: Uint8Array }

/** A longer frame is read in a turn of the event loop of its own: its JSON may have very many values. */
const maxFrameBytesAtOnce = 2 ** 16

class BodyReader implements FrameReader {
  readonly #source: ChunkReader | undefined
  readonly #frames: FrameSplitter
  readonly #prepare: FrameSplitterOptions['prepare']
  /** Frames of the last chunk, of which each call of `next` returns some: those up to the next long one. */
  #waiting: readonly Frame[] = []
  #ended: boolean
  #cancelled = false

  constructor(body: ReadableStream<Uint8Array> | null, options: FrameSplitterOptions) {
    this.#source = body?.getReader()
    this.#frames = createFrameSplitter(options)
    this.#prepare = options.prepare
    this.#ended = !body
  }

  next(): Promise<readonly Frame[] | undefined> {
    const source = this.#source
    if (this.#cancelled) return Promise.resolve(undefined)
    if (this.#waiting.length > 0) return this.#nextWaiting()
    if (!source || this.#ended) return Promise.resolve(undefined)
    const { failure } = this.#frames
    return failure ? Promise.reject(this.#fail(failure)) : source.read().then(this.#onRead, this.#onError)
  }

  /** Of all that read long frames, one goes on in a turn. */
  async #nextWaiting(): Promise<readonly Frame[] | undefined> {
    await nextTurn()
    if (this.#cancelled) return undefined
    const frames = this.#waiting
    const first = frames.findIndex(isLong)
    const end = first === -1 ? frames.length : first + 1
    const event = frames[first]?.event
    if (event && this.#prepare) {
      await this.#prepare(event)
      if (this.#cancelled) return undefined
    }
    this.#waiting = frames.slice(end)
    return frames.slice(0, end)
  }

  async cancel(reason?: unknown): Promise<void> {
    this.#cancelled = true
    await this.#source?.cancel(reason).catch(() => {})
  }

  readonly #onRead = (result: ReadResult): Awaitable<readonly Frame[] | undefined> => {
    if (this.#cancelled) return undefined
    if (!result.done) {
      try {
        return this.#inTurns(this.#frames.push(result.value))
      } catch (error) {
        throw this.#fail(error)
      }
    }
    this.#ended = true
    const rest = this.#frames.end()
    return rest && this.#inTurns([rest])
  }

  #inTurns(frames: readonly Frame[]): Awaitable<readonly Frame[] | undefined> {
    if (!frames.some(isLong)) return frames
    this.#waiting = frames
    return this.#nextWaiting()
  }

  /** An error after a cancellation is expected, and ignored. */
  readonly #onError = (error: unknown): undefined => {
    if (!this.#cancelled) throw this.#fail(error)
  }

  #fail(error: unknown): unknown {
    this.#ended = true
    return error
  }
}

const isLong = ({ bytes }: Frame): boolean => bytes.length > maxFrameBytesAtOnce
