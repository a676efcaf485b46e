import { clearInterval, setInterval } from 'node:timers'

/** A timeout of `CoarseTimers`. */
export interface CoarseTimer {
  /** The time at which the timeout expires, on the scale of `performance.now()`. */
  readonly expiresAt: number
  /** Called once, when the timeout has expired. */
  onTimeout(): void
}

/** Timeouts of many requests that share one interval timer: cheaper than a timer for each request, but less precise. */
export interface CoarseTimers {
  add(timeout: CoarseTimer): void
  delete(timeout: CoarseTimer): void
}

/**
 * Creates a set of coarse timers.
 *
 * @param everyMs milliseconds between two checks. A timeout can expire late by this time.
 */
export const createCoarseTimers = (everyMs: number): CoarseTimers => {
  const open = new Set<CoarseTimer>()
  let interval: NodeJS.Timeout | undefined
  const check = () => {
    const now = performance.now()
    for (const timeout of open) {
      if (timeout.expiresAt > now) continue
      open.delete(timeout)
      timeout.onTimeout()
    }
    if (open.size > 0) return
    clearInterval(interval)
    interval = undefined
  }
  return {
    add(timeout) {
      open.add(timeout)
      // The timer does not keep the process alive; an open connection does.
      interval ??= setInterval(check, everyMs).unref()
    },
    delete(timeout) {
      open.delete(timeout)
    },
  }
}
