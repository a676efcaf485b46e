import { StreamError } from '../assembly.ts'
import { asArray, type ChunkObject, isChunkObject } from './chunk.ts'

/**
 * The chunks that a stream would have sent for a whole chat completion, without `[DONE]`.
 *
 * For each choice one chunk with the content and one with the finish reason; then one with the usage, if there is any.
 * An object with `error` stays as it is. Throws StreamError for any other value.
 */
export const toChunks = (completion: unknown): object[] => {
  if (isChunkObject(completion) && completion.error) return [completion]
  if (!isChunkObject(completion) || !Array.isArray(completion.choices))
    throw new StreamError('the upstream sent a response that is not a chat completion')
  const { choices, usage, ...rest } = completion
  const common = { ...rest, object: 'chat.completion.chunk' }
  const chunks: object[] = choices.flatMap((choice, position) =>
    isChunkObject(choice) ? choiceChunks(choice, position).map((each) => ({ ...common, choices: [each] })) : [],
  )
  return isChunkObject(usage) ? [...chunks, { ...common, choices: [], usage }] : chunks
}

/** The two chunks of a choice. The completion is whole, so that a missing finish reason follows from the message. */
const choiceChunks = (choice: ChunkObject, position: number): object[] => {
  const { message, finish_reason: reason, index = position, ...rest } = choice
  const delta = isChunkObject(message) ? toDelta(message) : {}
  return [
    { ...rest, index, delta, finish_reason: null },
    { index, delta: {}, finish_reason: reason ?? (delta.tool_calls ? 'tool_calls' : 'stop') },
  ]
}

const toDelta = (message: ChunkObject): ChunkObject => {
  const { tool_calls: calls, ...rest } = message
  if (asArray(calls).length === 0) return rest
  return {
    ...rest,
    tool_calls: asArray(calls).map((call, index) => (isChunkObject(call) ? { index, ...call } : call)),
  }
}
