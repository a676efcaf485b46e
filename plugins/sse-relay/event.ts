/** A server-sent event, as a client receives it. */
export interface SseEvent {
  /** `message` if the event has no `event` field. */
  readonly type: string
  /** The data lines, joined by line feeds. */
  readonly data: string
  /** The `id` field of this event. The last id of an earlier event is not included. */
  readonly id?: string
}

/**
 * Parses the lines of one event; undefined if they contain no data.
 *
 * It reads the fields of WHATWG HTML, section "Interpreting an event stream", except `retry`, which belongs to the
 * connection and not to the event.
 */
export const parseEvent = (block: string): SseEvent | undefined => {
  let type = ''
  let id: string | undefined
  let data: string | undefined
  let nextLf = indexOrEnd('\n', block, 0)
  let nextCr = indexOrEnd('\r', block, 0)
  let nextColon = indexOrEnd(':', block, 0)
  for (let at = 0, end = 0; at < block.length; at = end + 1) {
    // A CR LF may count as two line ends: the empty line between them has no effect.
    if (nextLf < at) nextLf = indexOrEnd('\n', block, at)
    if (nextCr < at) nextCr = indexOrEnd('\r', block, at)
    end = Math.min(nextLf, nextCr)
    if (nextColon < at) nextColon = indexOrEnd(':', block, at)
    const colon = Math.min(nextColon, end)
    const field = block.slice(at, colon)
    if (field !== 'data' && field !== 'event' && field !== 'id') continue
    const value = block.slice(block[colon + 1] === ' ' ? colon + 2 : colon + 1, Math.max(end, colon + 1))
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`
    else if (field === 'event') type = value
    else if (!value.includes('\0')) id = value
  }
  return data === undefined ? undefined : { type: type || 'message', data, ...(id !== undefined && { id }) }
}

/** Position of the next occurrence of a character, or the length of the text. */
const indexOrEnd = (character: string, text: string, from: number): number => {
  const at = text.indexOf(character, from)
  return at === -1 ? text.length : at
}
