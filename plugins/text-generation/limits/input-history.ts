import type { Clock } from '../../shared/clock.ts'
import { createUserValues, type ModelUser } from './user-values.ts'

/** An estimate that is further from the truth says nothing about the next one. */
const maxFactor = 4
/** How much of a high factor each lower one takes away. */
const decay = 0.05

/** How far estimates of the input were from what upstreams have reported. */
export interface InputHistory {
  /** By what the estimate of a call has to be multiplied to be enough for most calls. From 1. */
  factor(of: ModelUser): number
  /** Adds a call. Tokens. */
  add(of: ModelUser, estimated: number, reported: number): void
}

/**
 * Keeps the highest ratio of each user and model, which falls slowly: many calls that run at the end of a limit must
 * not each have reserved too little. A user without history has that of most users of the model.
 */
export const createInputHistory = (clock: Pick<Clock, 'now'>): InputHistory => {
  const factors = createUserValues<number>({
    ...{ clock, withoutHistory: 1, numberOf: (factor) => factor },
    next: (known = 1, factor) => (factor > known ? factor : known - decay * (known - factor)),
  })
  return {
    factor: (of) => factors.own(of) ?? factors.usual(of.model),
    add(of, estimated, reported) {
      if (estimated > 0) factors.teach(of, Math.min(Math.max(1, reported / estimated), maxFactor))
    },
  }
}
