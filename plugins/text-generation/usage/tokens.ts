/** Token counts of one call, as the upstream reported them: integers from 0. */
export interface Tokens {
  /** All input tokens, including `cachedInput`. */
  readonly input: number
  /** Input tokens that the upstream read from its prompt cache. */
  readonly cachedInput: number
  /** All output tokens, including `reasoning`. */
  readonly output: number
  /** Output tokens of the model's reasoning. */
  readonly reasoning: number
}

/** Of a call that has used nothing. */
export const noTokens: Tokens = { input: 0, cachedInput: 0, output: 0, reasoning: 0 }
