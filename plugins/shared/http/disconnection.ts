/** Tells that a caller has disconnected. Every AbortSignal is one. */
export interface Disconnection {
  /** Whether the caller has disconnected. */
  readonly aborted: boolean
  /** Undefined before. */
  readonly reason: unknown
  /** Adds a listener that is called once, when the caller disconnects. */
  addEventListener(type: 'abort', listener: DisconnectionListener): void
  removeEventListener(type: 'abort', listener: DisconnectionListener): void
}

/** An object of which `handleEvent` is called. */
export interface DisconnectionListener {
  handleEvent(): void
}

/**
 * A member of requests whose server tells of a disconnection without a signal: a signal costs several microseconds,
 * most of them when its memory is collected.
 */
export const callerDisconnection = Symbol('disconnection of the caller')

/** Tells that the caller of a request has disconnected before the end of the response. */
export const disconnectionOf = (request: Request & { readonly [callerDisconnection]?: Disconnection }): Disconnection =>
  request[callerDisconnection] ?? request.signal

/**
 * A member of requests whose server knows whether the caller has disconnected without creating their signal, which
 * costs as much as a rejection.
 */
export const callerDisconnected = Symbol('caller disconnected')

/**
 * The status of a response for metrics and the log: 499, as in nginx, if the caller disconnected before it.
 *
 * The caller has not seen this response. An error in it would look like a failure of the service or of its upstream.
 */
export const loggedStatus = (
  request: Request & { readonly [callerDisconnected]?: boolean },
  { status }: Response,
): number => {
  // Without a caller, a call of the upstream fails with a 5xx.
  const disconnected = request[callerDisconnected] ?? (status >= 500 && request.signal.aborted)
  return disconnected ? 499 : status
}
