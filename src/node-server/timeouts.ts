/** Timeouts of connections, in milliseconds. None of them ends an open stream or a slow call of the app. */
export interface NodeServerTimeouts {
  /**
   * Idle time between two requests. Default 75,000: longer than the usual idle timeout of load balancers (60 s). If the
   * server closed first, it could close a connection on which the balancer is sending a request.
   */
  readonly keepAliveMs: number
  /** From the connection, or the first byte of a request, to the end of the headers. Default 15,000. */
  readonly headersMs: number
  /** For the next byte of a request body while the app reads it. Default 30,000. */
  readonly bodyStallMs: number
  /** For a whole request body. Default 300,000. One with a `Content-Length` has at least a second for each 64 KiB. */
  readonly bodyMs: number
  /** For the caller to read some of the bytes that are buffered for it. Not for event streams. Default 30,000. */
  readonly responseStallMs: number
  /**
   * For the caller to read all bytes that are buffered for it: the whole response, or in a stream, what fills the
   * buffer. Default 300,000.
   */
  readonly responseMs: number
  /**
   * For the rest of an unread request body after the response; at most 4 MiB of it are read and discarded. Also for a
   * WebSocket peer to close its end, after a close frame of the server. Default 5,000.
   */
  readonly unreadBodyMs: number
}

/** The default timeouts. */
export const defaultTimeouts: NodeServerTimeouts = {
  keepAliveMs: 75_000,
  headersMs: 15_000,
  bodyStallMs: 30_000,
  bodyMs: 300_000,
  responseStallMs: 30_000,
  responseMs: 300_000,
  unreadBodyMs: 5_000,
}
