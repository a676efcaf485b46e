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
  let data: string[] | undefined
  for (const line of block.split(/\r\n?|\n/)) {
    const colon = line.indexOf(':')
    if (colon === 0) continue
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') {
      data ??= []
      data.push(value)
    } else if (field === 'event') type = value
    else if (field === 'id' && !value.includes('\0')) id = value
  }
  return data && { type: type || 'message', data: data.join('\n'), ...(id !== undefined && { id }) }
}
