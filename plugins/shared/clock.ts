/** Time and timers, to be replaced by a test. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Runs something once, at a time or as soon as it has passed. The answer calls it off. */
  at(time: number, run: () => void): () => void
}

/** More than a timer can be set to: it would ring at once. */
const longest = 2 ** 31 - 1

export const systemClock: Clock = {
  now: Date.now,
  at(time, run) {
    const timer = setTimeout(run, Math.min(longest, Math.max(1, time - Date.now())))
    return () => clearTimeout(timer)
  },
}
