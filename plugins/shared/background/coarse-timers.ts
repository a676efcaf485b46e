import { clearInterval, setInterval } from 'node:timers'

/** A timeout of `CoarseTimers`. */
export interface CoarseTimer {
  /** The time at which the timeout expires, on the scale of `performance.now()`. */
  readonly expiresAt: number
  /** Called once, when the timeout has expired. */
  onTimeout(): void
}

/**
 * Timeouts of many requests that share one interval timer: cheaper than a timer for each request, but less precise.
 *
 * A timeout does not expire before the process has read what arrived while it was blocked, for example by a lock of
 * SQLite.
 */
export interface CoarseTimers {
  add(timeout: CoarseTimer): void
  delete(timeout: CoarseTimer): void
}

/**
 * Creates a set of coarse timers.
 *
 * @param everyMs milliseconds between two checks. A timeout can expire late by this time, after the process was blocked
 * by twice this time
 */
export const createCoarseTimers = (everyMs: number): CoarseTimers => {
  const open = new Set<CoarseTimer>()
  let interval: NodeJS.Timeout | undefined
  let checkedAt = 0
  let isDeferred = false
  const check = () => {
    const now = performance.now()
    const isLate = now - checkedAt > everyMs * lateFactor
    checkedAt = now
    // What has arrived meanwhile is read before the next check. A process that is always late defers every second one.
    isDeferred = isLate && !isDeferred
    if (isDeferred) return
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
      if (interval) return
      checkedAt = performance.now()
      interval = setInterval(check, everyMs).unref()
    },
    delete(timeout) {
      open.delete(timeout)
    },
  }
}

/** A check that comes after so many of its intervals is late: the process was blocked. */
const lateFactor = 1.5
