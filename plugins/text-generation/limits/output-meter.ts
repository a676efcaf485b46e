import { type Awaitable, isPromise } from '../../shared/awaitable.ts'
import type { Frame, FrameReader, SseEvent } from '../../sse-relay/index.ts'
import { TextEvent } from '../events/event.ts'

/** UTF-16 units of a token: about 4 of English, 1.5 of Chinese. */
const unitsPerToken = 3

/**
 * Estimates the output tokens of a stream while it passes: at least one for each event of generated text.
 *
 * The upstream's own count comes with the last event, if at all.
 */
export class OutputCount {
  tokens = 0
  readonly #factor: number
  #smallest = Number.POSITIVE_INFINITY

  /** @param factor by which each estimate is multiplied */
  constructor(factor: number) {
    this.#factor = factor
  }

  add({ event, bytes }: Frame): void {
    if (event) this.tokens += this.#factor * this.#tokensOf(event, bytes.length)
  }

  #tokensOf(event: SseEvent, length: number): number {
    if (event instanceof TextEvent && event.template) {
      let units = 0
      for (const piece of event.pieces) units += piece.length
      return units === 0 ? 0 : Math.max(1, units / unitsPerToken)
    }
    // The other events of Responses repeat the text of the deltas. Those of chat completions have no type.
    if (event.type !== 'message' && !event.type.endsWith('delta')) return 0
    // What an event has beyond the smallest one is text.
    if (length < this.#smallest) this.#smallest = length
    return Math.max(1, (length - this.#smallest) / unitsPerToken)
  }
}

/** Decides what a stream may still use. */
export interface OutputCover {
  /** Tries to cover this many tokens since the beginning. Returns how many are covered. */
  cover(tokens: number): Awaitable<number>
  /** Not all could be covered: the stream ends after `passed` tokens, and `arrived` ones had been generated. */
  onCut(passed: number, arrived: number): void
  /** The upstream's stream has ended by itself. */
  onComplete(): void
}

/**
 * Counts the frames of a stream as they are read. Before it returns frames that use more than was reserved, it waits
 * for more. If nothing is left, the frames that are covered are the last ones, and the upstream's stream is cancelled:
 * also if the rest of it has arrived already.
 *
 * @param factor of the estimates: see `OutputCount`
 */
export const meteredReader = (
  reader: FrameReader,
  factor: number,
  { cover, onCut, onComplete }: OutputCover,
): FrameReader => {
  const count = new OutputCount(factor)
  let ended = false
  const onFrames = (frames: readonly Frame[] | undefined): Awaitable<readonly Frame[] | undefined> => {
    if (!frames) {
      onComplete()
      return undefined
    }
    const before = count.tokens
    /** What the stream has used after each frame. */
    const uses = frames.map((frame) => {
      count.add(frame)
      return count.tokens
    })
    if (count.tokens === before) return frames
    const onCovered = (covered: number) => {
      if (count.tokens <= covered) return frames
      ended = true
      void reader.cancel(new Error('the limit is used up'))
      const first = uses.findIndex((tokens) => tokens > covered)
      onCut(uses[first - 1] ?? before, count.tokens)
      return frames.slice(0, first)
    }
    const covered = cover(count.tokens)
    return isPromise(covered) ? covered.then(onCovered) : onCovered(covered)
  }
  return {
    next: () => (ended ? Promise.resolve(undefined) : reader.next().then(onFrames)),
    cancel: (reason) => reader.cancel(reason),
  }
}
