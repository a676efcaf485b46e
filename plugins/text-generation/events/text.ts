import { answerLimits, type Json, JsonError, readJson } from '../../shared/json.ts'
import type { Frame } from '../../sse-relay/index.ts'

/** An event of one line of data, as text. */
export const eventText = (data: string): string => `data: ${data}\n\n`

/** A frame with the JSON in its data changed; undefined when there is nothing to change, or its data is no JSON on a single line. */
export const withData = (frame: Frame, change: (json: Json) => Json): Uint8Array | undefined => {
  if (!frame.event) return undefined
  const { data } = frame.event
  const text = decoder.decode(frame.bytes)
  const at = text.indexOf(data)
  if (at === -1) return undefined
  try {
    const json = readJson(data, answerLimits)
    const changed = change(json)
    if (changed === json) return undefined
    return encoder.encode(text.slice(0, at) + changed.raw + text.slice(at + data.length))
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}

// A frame at the start of a stream may begin with a byte order mark, which stays.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()
