import { createFrames, type Frame, type FramesOptions } from './events.ts'

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
export const readFrames = (body: ReadableStream<Uint8Array> | null, options: FramesOptions = {}): FrameReader => {
  const source = body?.getReader()
  const frames = createFrames(options)
  let over = !source
  let left = false
  return {
    async next() {
      if (!source || over || left) return undefined
      try {
        // Throws what an earlier chunk brought about.
        frames.push(none)
        const { done, value } = await source.read()
        if (left) return undefined
        if (!done) return frames.push(value)
        over = true
        const rest = frames.end()
        return rest && [rest]
      } catch (error) {
        // What breaks because it was given up is no news.
        if (left) return undefined
        over = true
        throw error
      }
    },
    async cancel(reason) {
      left = true
      await source?.cancel(reason).catch(() => {})
    },
  }
}

const none = new Uint8Array(0)
