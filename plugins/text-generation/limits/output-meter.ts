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
  #smallest = Number.POSITIVE_INFINITY

  add(frames: readonly Frame[]): void {
    for (const { event, bytes } of frames) if (event) this.tokens += this.#tokensOf(event, bytes.length)
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

/**
 * Counts the frames of a stream as they are read. Before it returns frames that use more than was reserved, it waits
 * for more. If nothing is left, these frames are the last ones, and the upstream's stream is cancelled.
 *
 * @param covers called with the estimated tokens so far: whether they may be used
 * @param onComplete the upstream's stream has ended by itself
 */
export const meteredReader = (
  reader: FrameReader,
  covers: (tokens: number) => Awaitable<boolean>,
  onComplete: () => void,
): FrameReader => {
  const count = new OutputCount()
  let ended = false
  const onCovered = (frames: readonly Frame[]) => (covered: boolean) => {
    if (!covered) {
      ended = true
      void reader.cancel(new Error('the limit is used up'))
    }
    return frames
  }
  const onFrames = (frames: readonly Frame[] | undefined): Awaitable<readonly Frame[] | undefined> => {
    if (!frames) {
      onComplete()
      return undefined
    }
    count.add(frames)
    const covered = covers(count.tokens)
    if (covered === true) return frames
    return isPromise(covered) ? covered.then(onCovered(frames)) : onCovered(frames)(covered)
  }
  return {
    next: () => (ended ? Promise.resolve(undefined) : reader.next().then(onFrames)),
    cancel: (reason) => reader.cancel(reason),
  }
}
