import { setImmediate } from 'node:timers/promises'
import { LimitProblem, type UsageLimits, type UsageLimitsOptions, usageLimits } from 'sluice/usage-limits'
import type { Clock } from '../../plugins/shared/clock.ts'
import type { LimitStore } from '../../plugins/usage-limits/store.ts'

/** A clock that only the test advances, and that stands still while a store is asked. */
export class StoreClock implements Clock {
  #now: number
  #asked = 0
  readonly #timers = new Set<{ readonly time: number; readonly run: () => void }>()

  constructor(start = Date.parse('2026-03-01T12:00:00Z')) {
    this.#now = start
  }

  now = (): number => this.#now

  at(time: number, run: () => void): () => void {
    const timer = { time, run }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.at(this.#now + ms, resolve))
  }

  /** The same store, whose calls the clock waits for. */
  watched(store: LimitStore): LimitStore {
    const watch =
      <Arguments extends unknown[], Result>(call: (...given: Arguments) => Promise<Result>) =>
      async (...given: Arguments): Promise<Result> => {
        this.#asked++
        try {
          return await call(...given)
        } finally {
          this.#asked--
        }
      }
    return {
      exchange: watch(store.exchange),
      limitUse: watch(store.limitUse),
      sweepLimits: watch(store.sweepLimits),
      limitSubjects: watch(store.limitSubjects),
    }
  }

  /** Waits until nothing happens without time. */
  async settled(): Promise<void> {
    for (let quiet = 0; quiet < 4; quiet++) {
      await setImmediate()
      if (this.#asked > 0) quiet = 0
    }
  }

  /** Advances the clock, and runs the timers that are due, in order. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms
    for (;;) {
      await this.settled()
      const due = [...this.#timers].sort((a, b) => a.time - b.time)[0]
      if (!due || due.time > until) break
      this.#timers.delete(due)
      this.#now = Math.max(this.#now, due.time)
      due.run()
    }
    this.#now = until
    await this.settled()
  }
}

/** The limits of one process. */
export const processOn = (
  store: LimitStore,
  clock: StoreClock,
  options: Omit<UsageLimitsOptions, 'store' | 'clock'>,
): UsageLimits => usageLimits({ store: clock.watched(store), clock, ...options })

/** Counts the exchanges with a store. */
export const countingStore = (store: LimitStore): { readonly store: LimitStore; readonly count: () => number } => {
  let count = 0
  return {
    store: {
      ...store,
      exchange: (exchange) => {
        count++
        return store.exchange(exchange)
      },
    },
    count: () => count,
  }
}

/** What a call is refused with. Undefined: it is not refused. */
export const refusalOf = async (call: Promise<unknown> | unknown): Promise<LimitProblem | undefined> => {
  try {
    await call
    return undefined
  } catch (error) {
    if (error instanceof LimitProblem) return error
    throw error
  }
}
