/** The clock and its timers. Tests replace it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls `run` once at the given time, or soon if it has passed. Returns a function that cancels the timer. */
  at(time: number, run: () => void): () => void
}

/** `setTimeout` fires at once for a longer delay. */
const maxDelayMs = 2 ** 31 - 1

/** The system clock, with `setTimeout`. */
export const systemClock: Clock = {
  now: Date.now,
  at(time, run) {
    const timer = setTimeout(run, Math.min(maxDelayMs, Math.max(1, time - Date.now())))
    return () => clearTimeout(timer)
  },
}
