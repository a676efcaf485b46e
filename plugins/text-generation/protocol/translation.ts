import { readErrorEvent, type SseEvent } from '../../sse-relay/index.ts'
import { jsonOf } from '../events/event.ts'
import { isDone } from '../events/text.ts'
import type { StreamRelay } from './protocol.ts'

/** Translates the events of a chat stream to the events of another protocol. */
export interface StreamTranslation {
  /**
   * Takes an event of the chat stream, not `[DONE]`. Returns the text of the resulting events; empty for none.
   *
   * Throws StreamError for an error event, and for an event that is malformed or that the other protocol cannot hold.
   */
  push(event: SseEvent): string
  /** Whether the choice has finished. `[DONE]` alone proves nothing: a proxy may have added it to a broken stream. */
  readonly complete: boolean
  /** The upstream's latest usage. */
  readonly usage: object | undefined
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
export const relayTranslation = (translation: StreamTranslation): StreamRelay => {
  let ended = false
  let done = false
  const finish = (complete: boolean): string => {
    ended = true
    return complete ? translation.end() : translation.fail(undefined)
  }
  return {
    get complete() {
      return translation.complete
    },
    get usage() {
      return translation.usage
    },
    onFrame({ event }) {
      if (!event) return undefined
      if (ended || done) return null
      done = isDone(event.data)
      if (done) return translation.store ? null : encoder.encode(finish(translation.complete))
      const error = readErrorEvent(event, jsonOf(event))
      if (error) {
        ended = true
        return encoder.encode(translation.fail(error))
      }
      const text = translation.push(event)
      return text === '' ? null : encoder.encode(text)
    },
    onEnd(broken) {
      if (ended) return ''
      const complete = translation.complete && !broken
      const text = finish(complete)
      return complete && translation.store ? translation.store().then((other) => other ?? text) : text
    },
  }
}
