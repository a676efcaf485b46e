import { createParser } from 'eventsource-parser'
import type { SseEvent } from '../../plugins/sse-relay/index.ts'

/** The events that the package eventsource-parser reads from a whole stream. A last event without a blank line is not included. */
export const parsedElsewhere = (bytes: Uint8Array): SseEvent[] => {
  const events: SseEvent[] = []
  const parser = createParser({
    onEvent: ({ id, event, data }) => events.push({ type: event ?? 'message', data, ...(id !== undefined && { id }) }),
  })
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  parser.feed(text)
  // The parser waits after a final CR for an LF. The added LF completes this line end and changes nothing else.
  if (text.endsWith('\r')) parser.feed('\n')
  return events
}
