import type { SseEvent } from '../../sse-relay/index.ts'
import { errorOf } from '../../sse-relay/index.ts'
import { StreamError } from '../assembly.ts'
import { jsonOf } from '../events/event.ts'

/** An object whose members are not known to be what they should be. */
export type ChunkObject = Readonly<Record<string, unknown>>

export const isChunkObject = (value: unknown): value is ChunkObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The elements of an array; none when it is anything else. */
export const elementsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A text; empty when there is none. A value of another kind is its JSON: some upstreams send arguments as objects. */
export const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/**
 * The chunk in an event of a chat stream. Undefined for one that holds none, such as `[DONE]`.
 *
 * Throws StreamError for an event that says that something went wrong, and for one that is no JSON object.
 */
export const readChunk = (event: SseEvent): ChunkObject | undefined => {
  const data = event.data.trim()
  if (data === '' || data === '[DONE]') return undefined
  const chunk = jsonOf(event)
  const error = errorOf(event, chunk)
  if (error) throw new StreamError('an error from the upstream', error)
  if (chunk === undefined) throw new StreamError('an event that is not JSON')
  if (!isChunkObject(chunk)) throw new StreamError('an event that is not a JSON object')
  return chunk
}
