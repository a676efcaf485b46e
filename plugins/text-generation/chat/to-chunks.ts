import { StreamError } from '../assembly.ts'
import { type ChunkObject, elementsOf, isChunkObject } from './chunk.ts'

/**
 * A whole chat completion as the chunks that a stream would have brought: for each choice one with all that was said and one with its end, then one with the
 * usage, if there is any. `[DONE]` is not among them. An error object stays as it is.
 *
 * Throws StreamError for anything that is neither.
 */
export const toChunks = (completion: unknown): object[] => {
  if (isChunkObject(completion) && completion.error) return [completion]
  if (!isChunkObject(completion) || !Array.isArray(completion.choices))
    throw new StreamError('an answer that is no chat completion')
  const { choices, usage, ...rest } = completion
  const common = { ...rest, object: 'chat.completion.chunk' }
  const chunks: object[] = choices.flatMap((choice, nth) =>
    isChunkObject(choice) ? choiceChunks(choice, nth).map((each) => ({ ...common, choices: [each] })) : [],
  )
  return isChunkObject(usage) ? [...chunks, { ...common, choices: [], usage }] : chunks
}

/** What is said of a choice, and that it ended. The answer is whole, so that a reason that was left out can be told from what was said. */
const choiceChunks = (choice: ChunkObject, nth: number): object[] => {
  const { message, finish_reason: reason, index = nth, ...rest } = choice
  const delta = isChunkObject(message) ? toDelta(message) : {}
  return [
    { ...rest, index, delta, finish_reason: null },
    { index, delta: {}, finish_reason: reason ?? (delta.tool_calls ? 'tool_calls' : 'stop') },
  ]
}

const toDelta = (message: ChunkObject): ChunkObject => {
  const { tool_calls: calls, ...said } = message
  if (elementsOf(calls).length === 0) return said
  return {
    ...said,
    tool_calls: elementsOf(calls).map((call, index) => (isChunkObject(call) ? { index, ...call } : call)),
  }
}
