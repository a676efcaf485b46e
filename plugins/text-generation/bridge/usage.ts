import { numberOf } from '../../shared/lossless-json.ts'
import { type ChunkObject, isChunkObject } from '../chat/chunk.ts'

/**
 * Translates the usage of a chat completion. Undefined if it counts neither input nor output tokens.
 *
 * Other missing counts become 0, because strict clients require all of them.
 */
export const toResponseUsage = (usage: ChunkObject): object | undefined => {
  const { prompt_tokens: input, completion_tokens: output } = usage
  if (input === undefined && output === undefined) return undefined
  const { cached_tokens, cache_write_tokens } = detailsOf(usage.prompt_tokens_details)
  const { reasoning_tokens } = detailsOf(usage.completion_tokens_details)
  return {
    input_tokens: input ?? 0,
    input_tokens_details: { cached_tokens: cached_tokens ?? 0, cache_write_tokens: cache_write_tokens ?? 0 },
    output_tokens: output ?? 0,
    output_tokens_details: { reasoning_tokens: reasoning_tokens ?? 0 },
    total_tokens: usage.total_tokens ?? countOf(input) + countOf(output),
  }
}

const detailsOf = (details: unknown): ChunkObject => (isChunkObject(details) ? details : {})

const countOf = (count: unknown): number => numberOf(count) || 0
