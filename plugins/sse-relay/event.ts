/** An event as clients see it. */
export interface SseEvent {
  /** `message` when the event has no name. */
  readonly type: string
  /** Its data lines, joined by line feeds. */
  readonly data: string
  /** Its own id; what an earlier event said of the last id is not repeated. */
  readonly id?: string
}

/**
 * The event in the lines of a block; undefined when it has no data. Fields are those of WHATWG HTML, section "Interpreting an event stream", `retry`
 * excepted: it speaks of the connection, not of the event.
 */
export const parseEvent = (block: string): SseEvent | undefined => {
  let type = ''
  let id: string | undefined
  let data: string | undefined
  let feed = placeOf('\n', block, 0)
  let back = placeOf('\r', block, 0)
  let mark = placeOf(':', block, 0)
  for (let at = 0, end = 0; at < block.length; at = end + 1) {
    // A CR and a LF make one end of line, or one and an empty line, which says nothing.
    if (feed < at) feed = placeOf('\n', block, at)
    if (back < at) back = placeOf('\r', block, at)
    end = Math.min(feed, back)
    if (mark < at) mark = placeOf(':', block, at)
    const colon = Math.min(mark, end)
    const field = block.slice(at, colon)
    if (field !== 'data' && field !== 'event' && field !== 'id') continue
    const value = block.slice(block[colon + 1] === ' ' ? colon + 2 : colon + 1, Math.max(end, colon + 1))
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`
    else if (field === 'event') type = value
    else if (!value.includes('\0')) id = value
  }
  return data === undefined ? undefined : { type: type || 'message', data, ...(id !== undefined && { id }) }
}

/** Where a sign is next, or the end of the text. */
const placeOf = (sign: string, text: string, from: number): number => {
  const at = text.indexOf(sign, from)
  return at === -1 ? text.length : at
}
