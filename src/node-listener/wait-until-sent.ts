import type { ServerResponse } from 'node:http'
import type { CoarseTimer, CoarseTimers } from '../../plugins/shared/coarse-timers.ts'

/** Timeouts for a caller that reads its response slowly. */
export interface SendTimeouts {
  /** Milliseconds without progress after which the connection is closed. */
  readonly stallMs: number
  /** Milliseconds for the whole response. */
  readonly wholeMs: number
}

/** Waits until the caller has read the buffered rest of a response, or has disconnected. Closes the connection at a timeout. */
export const waitUntilSent = (outgoing: ServerResponse, timeouts: SendTimeouts, timers: CoarseTimers): Promise<void> =>
  new Promise((resolve) => {
    let unsent = outgoing.writableLength
    let stalledAt = performance.now() + timeouts.stallMs
    const endsAt = performance.now() + timeouts.wholeMs
    const timer = {
      expiresAt: Math.min(stalledAt, endsAt),
      onTimeout() {
        const now = performance.now()
        if (outgoing.writableLength < unsent) stalledAt = now + timeouts.stallMs
        unsent = outgoing.writableLength
        timer.expiresAt = Math.min(stalledAt, endsAt)
        if (timer.expiresAt > now) timers.add(timer)
        else outgoing.destroy()
      },
    } satisfies CoarseTimer
    timers.add(timer)
    outgoing.once('close', () => {
      timers.delete(timer)
      resolve()
    })
  })
