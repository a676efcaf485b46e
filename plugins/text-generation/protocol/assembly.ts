import type { SseEvent } from '../../sse-relay/index.ts'

/** Builds a non-streaming response from the events of a stream. */
export interface Assembly {
  /** Adds an event; `[DONE]` is one too. Throws StreamError for an error event and for an invalid event. */
  push(event: SseEvent): void
  /** Whether the upstream has sent the complete response. */
  readonly complete: boolean
  /** The complete response, as JSON: the same as that of a non-streaming call. */
  result(): string
  /** The partial response at the time limit, as JSON. */
  partial(): string
  /** Whether the upstream has sent the id that `partial` contains. Absent: it keeps no object of that id. */
  readonly hasUpstreamId?: boolean
  /** The usage object, as the upstream reported it. */
  readonly usage: object | undefined
}

/** The upstream ended its stream with an error, or sent an invalid event. */
export class StreamError extends Error {
  /**
   * The upstream's error: the object in `error`, or the whole error event. Undefined: the upstream sent none that
   * callers may see.
   */
  readonly upstreamError: object | undefined

  constructor(message: string, upstreamError?: object) {
    super(message)
    this.name = 'StreamError'
    this.upstreamError = upstreamError
  }
}

/** For `JSON.stringify`: removes a high surrogate from the end of a text that was cut off before its low surrogate. */
export const withoutLoneSurrogate = (_key: string, value: unknown): unknown =>
  typeof value === 'string' && /[\ud800-\udbff]$/.test(value.slice(-1)) ? value.slice(0, -1) : value
