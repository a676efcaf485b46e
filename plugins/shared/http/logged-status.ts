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
