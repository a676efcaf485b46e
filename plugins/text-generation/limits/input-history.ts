import type { Clock } from '../../shared/clock.ts'
import { createUserValues } from './user-values.ts'

/** An estimate that is further from the truth says nothing about the next one. */
const maxFactor = 4
/** How much of a high factor each lower one takes away. */
const decay = 0.05

/** How far estimates of the input were from what upstreams have reported. */
export interface InputHistory {
  /** By what the estimate of a call has to be multiplied to be enough for most calls. From 1. */
  factor(user: string, model: string): number
  /** Adds a call. Tokens. */
  add(user: string, model: string, estimated: number, reported: number): void
}

/**
 * Keeps the highest ratio of each user and model, which falls slowly: many calls that run at the end of a limit must
 * not each have reserved too little. A user without history has that of most users of the model.
 */
export const createInputHistory = (clock: Pick<Clock, 'now'>): InputHistory => {
  const factors = createUserValues<number>({ clock, withoutHistory: 1, numberOf: (factor) => factor })
  return {
    factor: (user, model) => factors.own(user, model) ?? factors.usual(model),
    add(user, model, estimated, reported) {
      if (estimated <= 0) return
      const factor = Math.min(Math.max(1, reported / estimated), maxFactor)
      factors.teach(user, model, (known = 1) => (factor > known ? factor : known - decay * (known - factor)))
    },
  }
}
