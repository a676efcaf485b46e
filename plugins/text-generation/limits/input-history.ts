/** Models whose history is kept. The oldest go first. */
const maxModels = 10_000
/** An estimate that is further from the truth says nothing about the next one. */
const maxFactor = 4
/** How much of a high factor each lower one takes away. */
const decay = 0.05

/** How far estimates of the input were from what upstreams have reported. */
export interface InputHistory {
  /** By what the estimate of a call has to be multiplied to be enough for most calls of a model. From 1. */
  factor(model: string): number
  /** Adds a call. Tokens. */
  add(model: string, estimated: number, reported: number): void
}

/**
 * Keeps the highest ratio of each model, which falls slowly: many calls that run at the end of a limit must not each
 * have reserved too little.
 */
export const createInputHistory = (): InputHistory => {
  const factors = new Map<string, number>()
  return {
    factor: (model) => factors.get(model) ?? 1,
    add(model, estimated, reported) {
      if (estimated <= 0) return
      const factor = Math.min(Math.max(1, reported / estimated), maxFactor)
      const known = factors.get(model) ?? 1
      if (known === factor) return
      factors.set(model, factor > known ? factor : known - decay * (known - factor))
      if (factors.size > maxModels) for (const oldest of factors.keys()) return void factors.delete(oldest)
    },
  }
}
