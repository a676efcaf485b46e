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

class BodyReader implements FrameReader {
  readonly #source: ChunkReader | undefined
  readonly #frames: FrameSplitter
  #ended: boolean
  #cancelled = false

  constructor(body: ReadableStream<Uint8Array> | null, options: FrameSplitterOptions) {
    this.#source = body?.getReader()
    this.#frames = createFrameSplitter(options)
    this.#ended = !body
  }

  next(): Promise<readonly Frame[] | undefined> {
    const source = this.#source
    if (!source || this.#ended || this.#cancelled) return Promise.resolve(undefined)
    const { failure } = this.#frames
    return failure ? Promise.reject(this.#fail(failure)) : source.read().then(this.#onRead, this.#onError)
  }

  async cancel(reason?: unknown): Promise<void> {
    this.#cancelled = true
    await this.#source?.cancel(reason).catch(() => {})
  }

  readonly #onRead = (result: ReadResult): readonly Frame[] | undefined => {
    if (this.#cancelled) return undefined
    if (!result.done) {
      try {
        return this.#frames.push(result.value)
      } catch (error) {
        throw this.#fail(error)
      }
    }
    this.#ended = true
    const rest = this.#frames.end()
    return rest && [rest]
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
