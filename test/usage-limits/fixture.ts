import { LimitProblem, type UsageLimits, type UsageLimitsOptions, usageLimits } from 'sluice/usage-limits'
import type { LimitStore } from '../../plugins/usage-limits/store.ts'
import { StoreClock } from '../support/store-clock.ts'

export { StoreClock }

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
