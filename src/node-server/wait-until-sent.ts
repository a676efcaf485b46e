import type { ServerResponse } from 'node:http'
import type { CoarseTimer, CoarseTimers } from '../../plugins/shared/background/coarse-timers.ts'

/** Timeouts for a caller that reads its response slowly. */
export interface SendTimeouts {
  /** Milliseconds without progress after which the connection is closed. */
  readonly stallMs: number
  /** Milliseconds for all buffered bytes. */
  readonly totalMs: number
}

/**
 * `drain`: the caller has read the buffered bytes of a response that goes on. `close`: it has read the whole response.
 */
export type SendEvent = 'drain' | 'close'

/** Waits for an event of a response. Resolves also when the caller has disconnected. */
export const waitForEvent = (serverResponse: ServerResponse, event: SendEvent): Promise<void> =>
  new Promise((resolve) => {
    // Deno (2.9.6) buffers what is written to such a response, and no event follows.
    if (serverResponse.destroyed) return resolve()
    const done = () => {
      serverResponse.off(event, done)
      serverResponse.off('close', done)
      resolve()
    }
    serverResponse.on(event, done)
    serverResponse.on('close', done)
  })

/**
 * Waits until the caller has read the buffered bytes of a response, or has disconnected. Closes the connection at a
 * timeout.
 */
export const waitUntilSent = async (
  serverResponse: ServerResponse,
  event: SendEvent,
  timeouts: SendTimeouts,
  timers: CoarseTimers,
): Promise<void> => {
  let unsentBytes = serverResponse.writableLength
  let stallDeadline = performance.now() + timeouts.stallMs
  const totalDeadline = performance.now() + timeouts.totalMs
  const timer = {
    expiresAt: Math.min(stallDeadline, totalDeadline),
    onTimeout() {
      const now = performance.now()
      if (serverResponse.writableLength < unsentBytes) stallDeadline = now + timeouts.stallMs
      unsentBytes = serverResponse.writableLength
      timer.expiresAt = Math.min(stallDeadline, totalDeadline)
      if (timer.expiresAt > now) timers.add(timer)
      else serverResponse.destroy()
    },
  } satisfies CoarseTimer
  timers.add(timer)
  await waitForEvent(serverResponse, event)
  timers.delete(timer)
}
