import { setImmediate } from 'node:timers/promises'
import { LimitProblem, type UsageLimits, type UsageLimitsOptions, usageLimits } from 'sluice/usage-limits'
import type { LimitStore } from '../../plugins/usage-limits/store.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

/** A clock that only the test advances, and that stands still while a store is asked. */
export class StoreClock extends VirtualClock {
  #asked = 0

  constructor(start = Date.parse('2026-03-01T12:00:00Z')) {
    super(1, start)
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
  override async settled(): Promise<void> {
    for (let quiet = 0; quiet < 4; quiet++) {
      await setImmediate()
      if (this.#asked > 0) quiet = 0
    }
  }

  override async pass(ms: number): Promise<void> {
    await super.pass(ms)
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
