import { readErrorEvent, type SseEvent } from '../../sse-relay/index.ts'
import { jsonOf } from '../events/event.ts'
import { isDone } from '../events/text.ts'
import type { Assembly } from './assembly.ts'
import type { StreamRelay } from './protocol.ts'

/** Translates the events of a chat stream to the events of another protocol. */
export interface Translator extends Pick<Assembly, 'complete' | 'usage'> {
  /** As that of `Assembly`. Returns the text of the resulting events; empty for none. */
  push(event: SseEvent): string
}

/** How a translated stream ends. */
export interface TranslationEnds {
  /** The text that ends a complete stream. */
  end(): string
  /**
   * The text that ends a broken stream.
   *
   * @param error what the upstream has reported. Undefined: it broke the stream off
   */
  fail(error: object | undefined): string
  /**
   * Stores the complete response, after `end`, before the caller receives that text. Resolves with other text instead,
   * if it fails. Default: it is not stored.
   */
  readonly store?: (() => Promise<string | undefined>) | undefined
}

const encoder = new TextEncoder()

/** Converts a chat stream event by event. */
export const relayTranslation = (translator: Translator, { end, fail, store }: TranslationEnds): StreamRelay => {
  let ended = false
  let done = false
  const finish = (complete: boolean): string => {
    ended = true
    return complete ? end() : fail(undefined)
  }
  return {
    get complete() {
      return translator.complete
    },
    get isOver() {
      return ended || done
    },
    get usage() {
      return translator.usage
    },
    onFrame({ event }) {
      if (ended || done) return null
      if (!event) return undefined
      done = isDone(event.data)
      if (done) return store ? null : encoder.encode(finish(translator.complete))
      const error = readErrorEvent(event, jsonOf(event))
      if (error) {
        ended = true
        return encoder.encode(fail(error))
      }
      const text = translator.push(event)
      return text === '' ? null : encoder.encode(text)
    },
    onEnd(broken) {
      if (ended) return ''
      const complete = translator.complete && !broken
      const text = finish(complete)
      return complete && store ? store().then((other) => other ?? text) : text
    },
  }
}
