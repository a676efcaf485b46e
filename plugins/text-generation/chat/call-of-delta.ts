/** A tool call, as far as a stream has sent it. */
export interface KnownCall {
  readonly index: number | undefined
  /** Empty while it has none. */
  readonly id: string
  /** Whether its arguments may be complete, so that `text` may be those of another call. */
  mayEndBefore(text: string): boolean
}

/** An element of `tool_calls` in a chunk. What is absent is empty, or undefined. */
export interface CallDelta {
  readonly index: number | undefined
  readonly id: string
  readonly name: string
  /** A piece of the arguments. */
  readonly text: string
}

/**
 * The call that a delta belongs to; undefined when the delta begins another call.
 *
 * The index decides, else the id, else it is the last call. Some upstreams give every call the index 0, or none. There
 * a name begins another call: with another id, and with an index only after complete arguments; without an id and an
 * index after complete arguments. Some upstreams repeat the name in each delta, or send each with an id of its own.
 */
export const callOfDelta = <Call extends KnownCall>(
  calls: readonly Call[],
  { index, id, name, text }: CallDelta,
): Call | undefined => {
  const known =
    index === undefined
      ? calls.find((call) => id !== '' && call.id === id)
      : calls.findLast((call) => call.index === index)
  const call = known ?? (index === undefined ? calls.at(-1) : undefined)
  if (!call || name === '' || (known && id === call.id && id !== '')) return call
  const isOther = id !== '' && call.id !== ''
  if (index === undefined) return isOther || call.mayEndBefore(text) ? undefined : call
  return isOther && call.mayEndBefore(text) ? undefined : call
}
