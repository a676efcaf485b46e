import type { ServerResponse } from 'node:http'
import type { CoarseTimer, CoarseTimers } from '../../plugins/shared/coarse-timers.ts'

/** Timeouts for a caller that reads its response slowly. */
export interface SendTimeouts {
  /** Milliseconds without progress after which the connection is closed. */
  readonly stallMs: number
  /** Milliseconds for the whole response. */
  readonly totalMs: number
}

/** Waits until the caller has read the buffered rest of a response, or has disconnected. Closes the connection at a timeout. */
export const waitUntilSent = (
  serverResponse: ServerResponse,
  timeouts: SendTimeouts,
  timers: CoarseTimers,
): Promise<void> =>
  new Promise((resolve) => {
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
    serverResponse.once('close', () => {
      timers.delete(timer)
      resolve()
    })
  })
