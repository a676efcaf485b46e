import { clearInterval, setInterval } from 'node:timers'

/** Something that is waited for until a time. */
export interface CoarseTimer {
  /** As `performance.now()` tells it. */
  readonly until: number
  over(): void
}

/** Waits of many requests under one timer: thousands cost no more than the look at them, a few times a second. */
export interface CoarseTimers {
  add(wait: CoarseTimer): void
  delete(wait: CoarseTimer): void
}

/** @param everyMs how often is looked, and so how much later than its time a wait may be over */
export const createCoarseTimers = (everyMs: number): CoarseTimers => {
  const open = new Set<CoarseTimer>()
  let timer: NodeJS.Timeout | undefined
  const look = () => {
    const now = performance.now()
    for (const wait of open) {
      if (wait.until > now) continue
      open.delete(wait)
      wait.over()
    }
    if (open.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  return {
    add(wait) {
      open.add(wait)
      // What is waited for keeps the process, if anything has to.
      timer ??= setInterval(look, everyMs).unref()
    },
    delete(wait) {
      open.delete(wait)
    },
  }
}
