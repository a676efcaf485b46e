import { isJsonObject, type JsonObject } from '../../shared/json/parsed.ts'
import { readErrorEvent, type SseEvent } from '../../sse-relay/index.ts'
import { jsonOf } from '../events/event.ts'
import { StreamError } from '../protocol/assembly.ts'

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
export const readChunk = (event: SseEvent): JsonObject | undefined => {
  const data = event.data.trim()
  if (data === '' || data === '[DONE]') return undefined
  const chunk = jsonOf(event)
  const error = readErrorEvent(event, chunk)
  if (error) throw new StreamError('the upstream reported an error', error)
  if (chunk === undefined) throw new StreamError('the upstream sent an event that is not JSON')
  if (!isJsonObject(chunk)) throw new StreamError('the upstream sent an event that is not a JSON object')
  return chunk
}

/**
 * The chunks that a stream would have sent for a whole chat completion, without `[DONE]`.
 *
 * For each choice one chunk with the content and one with the finish reason; then one with the usage, if there is any.
 * An object with `error` stays as it is. Throws StreamError for any other value.
 */
export const toChunks = (completion: unknown): object[] => {
  if (isJsonObject(completion) && completion.error) return [completion]
  if (!isJsonObject(completion) || !Array.isArray(completion.choices))
    throw new StreamError('the upstream sent a response that is not a chat completion')
  const { choices, usage, ...rest } = completion
  const common = { ...rest, object: 'chat.completion.chunk' }
  const chunks: object[] = choices.flatMap((choice, position) =>
    isJsonObject(choice) ? choiceChunks(choice, position).map((each) => ({ ...common, choices: [each] })) : [],
  )
  return isJsonObject(usage) ? [...chunks, { ...common, choices: [], usage }] : chunks
}

/** The two chunks of a choice. The completion is whole, so that a missing finish reason follows from the message. */
const choiceChunks = (choice: JsonObject, position: number): object[] => {
  const { message, finish_reason: reason, index = position, ...rest } = choice
  const delta = isJsonObject(message) ? toDelta(message) : {}
  return [
    { ...rest, index, delta, finish_reason: null },
    { index, delta: {}, finish_reason: reason || (delta.tool_calls ? 'tool_calls' : 'stop') },
  ]
}

const toDelta = (message: JsonObject): JsonObject => {
  const { tool_calls: calls, ...rest } = message
  if (asArray(calls).length === 0) return rest
  return {
    ...rest,
    tool_calls: asArray(calls).map((call, index) => (isJsonObject(call) ? { index, ...call } : call)),
  }
}
