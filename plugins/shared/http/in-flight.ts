/**
 * Counts the resources of one request while it is in flight.
 *
 * `identified`, `reading`, `streaming` and `sending` throw Problem 429 when the user has reached a limit, and Problem
 * 503 when the process has.
 */
export interface InFlight {
  /** The caller is authenticated. Repeated calls count once. */
  identified(user: string): void
  /** The server will read this number of bytes of the body. They count until the request ends. */
  reading(bytes: number): void
  /** The response is a stream: the request ends when `streamed` is called. */
  streaming(): void
  /** The stream has ended, normally or not. Without an open stream the call has no effect. */
  streamed(): void
  /**
   * The server buffers this number of bytes of the response until the client reads. If it throws, the server must abort
   * the response.
   */
  sending(bytes: number): void
  /** The buffered bytes of the response are sent or discarded. */
  sent(): void
}

const inFlight = Symbol('in flight')

/** A symbol property of the request: a WeakMap entry costs ten times as much, and more garbage collection. */
type Counted = Request & { [inFlight]?: InFlight }

/** Attaches the counters to a request, so that plugins can report what it uses. */
export const countInFlight = (request: Counted, counted: InFlight): void => {
  request[inFlight] = counted
}

/** The counters of a request; undefined if the server has no limits. */
export const inFlightOf = (request: Counted): InFlight | undefined => request[inFlight]
