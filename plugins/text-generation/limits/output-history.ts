/** Without history: tokens that a response usually has. */
const usualTokens = 1_000
/** Users and models whose history is kept. The oldest go first. */
const maxEntries = 10_000
/** Weight of the latest call. */
const weight = 0.2

interface Usual {
  /** Moving average of the output of calls, in tokens. */
  mean: number
  /** Moving average of the distance from it. */
  deviation: number
}

/** What calls used lately: for estimates of what the next one will use. */
export interface OutputHistory {
  /** Tokens that a call of this user and model will probably generate. Above 0. */
  estimate(user: string, model: string): number
  /** Adds the output of a call, in tokens. */
  add(user: string, model: string, tokens: number): void
}

/**
 * Keeps the usual output of each user and model, and of each model for users without history.
 *
 * The estimate is the average and its usual deviation: most calls fit, and it is far from the maximum that they allow.
 */
export const createOutputHistory = (withoutHistory = usualTokens): OutputHistory => {
  const usual = new Map<string, Usual>()
  const add = (key: string, tokens: number): void => {
    const known = usual.get(key)
    if (known) {
      known.deviation += weight * (Math.abs(tokens - known.mean) - known.deviation)
      known.mean += weight * (tokens - known.mean)
      return
    }
    usual.set(key, { mean: tokens, deviation: tokens / 4 })
    if (usual.size > maxEntries) for (const oldest of usual.keys()) return void usual.delete(oldest)
  }
  return {
    estimate(user, model) {
      const known = usual.get(keyOf(user, model)) ?? usual.get(keyOf('', model))
      return known ? Math.max(1, Math.ceil(known.mean + known.deviation)) : withoutHistory
    },
    add(user, model, tokens) {
      add(keyOf(user, model), tokens)
      add(keyOf('', model), tokens)
    },
  }
}

/** No model name has a line feed after it, and no user is empty. */
const keyOf = (user: string, model: string): string => `${user}\n${model}`
