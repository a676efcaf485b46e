import type { SseEvent } from '../../sse-relay/index.ts'
import { readErrorEvent } from '../../sse-relay/index.ts'
import { StreamError } from '../assembly.ts'
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
