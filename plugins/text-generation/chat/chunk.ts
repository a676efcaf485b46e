import { readErrorEvent, type SseEvent } from '../../sse-relay/index.ts'
import { StreamError } from '../call/assembly.ts'
import { jsonOf } from '../events/event.ts'

/** A JSON object in a chunk. The types of its members are unknown: an upstream may send anything. */
export type ChunkObject = Readonly<Record<string, unknown>>

export const isChunkObject = (value: unknown): value is ChunkObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The elements of an array; none for any other value. */
export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The value as text; empty when absent. Other values become JSON: some upstreams send arguments as objects. */
export const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/**
 * The chunk of an event in a chat stream. Undefined for an event without one, such as `[DONE]`.
 *
 * Throws StreamError for an error event, and for data that is not a JSON object.
 */
export const readChunk = (event: SseEvent): ChunkObject | undefined => {
  const data = event.data.trim()
  if (data === '' || data === '[DONE]') return undefined
  const chunk = jsonOf(event)
  const error = readErrorEvent(event, chunk)
  if (error) throw new StreamError('the upstream reported an error', error)
  if (chunk === undefined) throw new StreamError('the upstream sent an event that is not JSON')
  if (!isChunkObject(chunk)) throw new StreamError('the upstream sent an event that is not a JSON object')
  return chunk
}

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
    { index, delta: {}, finish_reason: reason || (delta.tool_calls ? 'tool_calls' : 'stop') },
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
