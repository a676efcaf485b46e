import { type Json, JsonError, readJson, responseLimits } from '../../shared/json/json.ts'
import type { Frame } from '../../sse-relay/index.ts'

/** The text of an event with one line of data. */
export const eventText = (data: string): string => `data: ${data}\n\n`

/**
 * Changes the JSON in the data of a frame. Undefined when nothing changes, or when the data is not JSON on a single
 * line.
 */
export const withData = (frame: Frame, change: (json: Json) => Json): Uint8Array | undefined => {
  if (!frame.event) return undefined
  const { data } = frame.event
  const text = decoder.decode(frame.bytes)
  const at = text.indexOf(data)
  if (at === -1) return undefined
  try {
    const json = readJson(data, responseLimits)
    const changed = change(json)
    if (changed === json) return undefined
    return encoder.encode(text.slice(0, at) + changed.raw + text.slice(at + data.length))
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}

// The first frame of a stream may begin with a byte order mark, which is kept.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

/** The event that ends a stream in both protocols. */
export const doneText = eventText('[DONE]')

/** Whether the data of an event is `[DONE]`. */
export const isDone = (data: string): boolean => data.trim() === '[DONE]'
