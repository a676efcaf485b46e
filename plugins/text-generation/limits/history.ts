import type { Clock } from '../../shared/clock.ts'
import { createUserValues, type ModelUser } from './user-values.ts'

/** Without history: tokens that a response usually has. */
const usualTokens = 1_000
/** Weight of the latest call. */
const weight = 0.2
/** How much of the distance to it each lower call takes away from the most. */
const mostDecay = 0.01

interface Usual {
  /** Moving average of the output of calls, in tokens. */
  readonly mean: number
  /** Moving average of the distance from it. */
  readonly deviation: number
  /** The most, which falls slowly. */
  readonly most: number
}

/** What calls used lately: for estimates of what the next one will use. */
export interface OutputHistory {
  /** Tokens that a call of this user and model will probably generate. Above 0. */
  estimate(of: ModelUser): number
  /** The most that calls of this user and model have generated lately. 0: nobody knows. */
  most(of: ModelUser): number
  /** Adds the output of a call, in tokens. */
  add(of: ModelUser, tokens: number): void
}

/**
 * Keeps the usual output of each user and model. A user without history has that of most users of the model.
 *
 * The estimate is the average and its usual deviation: most calls fit, and it is far from the maximum that they allow.
 */
export const createOutputHistory = (clock: Pick<Clock, 'now'>, withoutHistory = usualTokens): OutputHistory => {
  const estimateOf = ({ mean, deviation }: Usual) => Math.max(1, Math.ceil(mean + deviation))
  const usual = createUserValues<Usual>({
    ...{ clock, withoutHistory, numberOf: estimateOf },
    next(known, tokens) {
      if (!known) return { mean: tokens, deviation: tokens / 4, most: tokens }
      const distance = Math.abs(tokens - known.mean)
      return {
        mean: known.mean + weight * (tokens - known.mean),
        deviation: known.deviation + weight * (distance - known.deviation),
        most: Math.max(tokens, known.most - mostDecay * (known.most - tokens)),
      }
    },
  })
  return {
    estimate(of) {
      const known = usual.own(of)
      return known ? estimateOf(known) : usual.usual(of.model)
    },
    most: (of) => Math.ceil(usual.own(of)?.most ?? 0),
    add: (of, tokens) => usual.teach(of, tokens),
  }
}

/** An estimate that is further from the truth says nothing about the next one. */
export const maxFactor = 4
/** How much of a high factor each lower one takes away. */
const decay = 0.05

/** How far estimates of one kind, such as those of the input, were from what upstreams have reported. */
export interface EstimateHistory {
  /** By what the estimate of a call has to be multiplied to be enough for most calls. From 1. */
  factor(of: ModelUser): number
  /** Adds a call. Tokens. */
  add(of: ModelUser, estimated: number, reported: number): void
}

/**
 * Keeps the highest ratio of each user and model, which falls slowly: many calls that run at the end of a limit must
 * not each have reserved too little. A user without history has that of most users of the model.
 */
export const createEstimateHistory = (clock: Pick<Clock, 'now'>): EstimateHistory => {
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
