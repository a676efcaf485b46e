import { createFrames, type Frame, type Frames, type FramesOptions } from './frames.ts'

/** Frames of a body, no faster than they are asked for. */
export interface FrameReader {
  /**
   * The frames that the next bytes of the body complete, none if they complete none; undefined at the end. Rejects with what the body broke with, or with
   * EventTooLarge. One call at a time.
   */
  next(): Promise<readonly Frame[] | undefined>
  /** Gives the body up; a call of `next` that is under way resolves with undefined. Never rejects. */
  cancel(reason?: unknown): Promise<void>
}

/** Reads a body frame by frame. `null`, which is the body of a response without one, counts as empty. */
export const readFrames = (body: ReadableStream<Uint8Array> | null, options: FramesOptions = {}): FrameReader =>
  new BodyReader(body, options)

/** Of each runtime's reader, what it takes. */
interface Source {
  read(): Promise<Read>
  cancel(reason?: unknown): Promise<void>
}

type Read = { readonly done: true } | { readonly done: false; readonly value: Uint8Array }

class BodyReader implements FrameReader {
  readonly #source: Source | undefined
  readonly #frames: Frames
  #over: boolean
  #left = false

  constructor(body: ReadableStream<Uint8Array> | null, options: FramesOptions) {
    this.#source = body?.getReader()
    this.#frames = createFrames(options)
    this.#over = !body
  }

  next(): Promise<readonly Frame[] | undefined> {
    const source = this.#source
    if (!source || this.#over || this.#left) return Promise.resolve(undefined)
    const { failure } = this.#frames
    return failure ? Promise.reject(this.#broken(failure)) : source.read().then(this.#take, this.#break)
  }

  async cancel(reason?: unknown): Promise<void> {
    this.#left = true
    await this.#source?.cancel(reason).catch(() => {})
  }

  readonly #take = (read: Read): readonly Frame[] | undefined => {
    if (this.#left) return undefined
    if (!read.done) {
      try {
        return this.#frames.push(read.value)
      } catch (error) {
        throw this.#broken(error)
      }
    }
    this.#over = true
    const rest = this.#frames.end()
    return rest && [rest]
  }

  /** What breaks because it was given up is no news. */
  readonly #break = (error: unknown): undefined => {
    if (!this.#left) throw this.#broken(error)
  }

  #broken(error: unknown): unknown {
    this.#over = true
    return error
  }
}
