import { createParser } from 'eventsource-parser'
import type { SseEvent } from '../../plugins/sse-relay/index.ts'

/** What the widely used parser makes of a stream, given whole. An event without a blank line behind it is not among it. */
export const parsedElsewhere = (bytes: Uint8Array): SseEvent[] => {
  const events: SseEvent[] = []
  const parser = createParser({
    onEvent: ({ id, event, data }) => events.push({ type: event ?? 'message', data, ...(id !== undefined && { id }) }),
  })
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  parser.feed(text)
  // It keeps a carriage return at the end for a line feed that may follow; this makes one line end of the two, and changes nothing else.
  if (text.endsWith('\r')) parser.feed('\n')
  return events
}
