import type { SseEvent } from '../sse-relay/index.ts'

/** Puts a non-streaming answer together from the events of a stream. */
export interface Assembly {
  /** Takes an event, `[DONE]` too. Throws StreamError for one that says that something went wrong, or that cannot be understood. */
  push(event: SseEvent): void
  /** Whether the upstream has said all that belongs to an answer. */
  readonly complete: boolean
  /** What a non-streaming call would have answered, as JSON. */
  result(): string
  /** The answer cut off at the time limit, as JSON. */
  partial(): string
  /** As the upstream reported it. */
  readonly usage: object | undefined
}

/** The upstream broke its answer off, in words or by nonsense. */
export class StreamError extends Error {
  /** What the upstream said of it: the object in `error`, or the whole error event. Undefined: it said nothing that could be shown. */
  readonly said: object | undefined

  constructor(message: string, said?: object) {
    super(message)
    this.name = 'StreamError'
    this.said = said
  }
}
