import { type Generation, tokensIn } from './generation.ts'
import type { Prompt } from './prompt.ts'
import type { CacheUse } from './prompt-cache.ts'
import { costOf } from './tokens.ts'

/** The token counts of a response. */
export interface Usage {
  readonly input: number
  readonly output: number
  readonly reasoning: number
  /** input tokens that came from the prompt cache */
  readonly cached: number
  /** input tokens that were written to the prompt cache */
  readonly written: number
}

/** Counts the tokens of a prompt and its generated outputs. */
export const usageOf = (
  { turns, tools }: Prompt,
  generations: readonly Generation[],
  { cached, written }: CacheUse = { cached: 0, written: 0 },
): Usage => {
  const { all, reasoning } = tokensIn(generations)
  return {
    input: costOf(turns, tools.map(({ name, schema }) => name + JSON.stringify(schema)).join('')),
    output: all,
    ...{ reasoning, cached, written },
  }
}

/** The usage object of chat completions. */
export const chatUsage = ({ input, output, reasoning, cached, written }: Usage): object => ({
  ...{ prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written, audio_tokens: 0 },
  completion_tokens_details: {
    ...{ reasoning_tokens: reasoning, audio_tokens: 0 },
    ...{ accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
  },
})

/** The usage object of the Responses API. */
export const responsesUsage = ({ input, output, reasoning, cached, written }: Usage): object => ({
  ...{ input_tokens: input, input_tokens_details: { cached_tokens: cached, cache_write_tokens: written } },
  ...{ output_tokens: output, output_tokens_details: { reasoning_tokens: reasoning } },
  total_tokens: input + output,
})
