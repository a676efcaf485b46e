/** Response headers. An array is sent as several header lines. */
export type Headers = Readonly<Record<string, string | string[]>>

/** One step of a response on the connection. */
export type Step =
  /** sends status and headers; always the first step that sends data */
  | { readonly do: 'head'; readonly status: number; readonly headers: Headers }
  /** sends an event; `data` is a string, or a value to serialize as JSON */
  | { readonly do: 'event'; readonly name?: string; readonly data: unknown }
  | { readonly do: 'bytes'; readonly bytes: Uint8Array }
  /** waits for the time of this number of deltas */
  | { readonly do: 'pause'; readonly deltas: number }
  /** waits `ms` */
  | { readonly do: 'sleep'; readonly ms: number }
  /** waits for a promise */
  | { readonly do: 'wait'; readonly until: () => Promise<unknown> }
  /**
   * ends the connection: `cut` closes it (FIN) before the body is complete, `reset` resets it. Without this step, the
   * response completes
   */
  | { readonly do: 'end'; readonly how: 'cut' | 'reset' }

/** The steps of a response. They are generated lazily, so nothing is generated for a caller that has disconnected. */
export type Steps = Iterable<Step>

/** A step that sends an event. */
export type EventStep = Extract<Step, { do: 'event' }>

/** Waits for the time of one delta, then sends the event. */
export function* delta(event: EventStep): Steps {
  yield { do: 'pause', deltas: 1 }
  yield event
}

/** A step that sends an event. */
export const eventOf = (data: unknown, name?: string): EventStep =>
  name === undefined ? { do: 'event', data } : { do: 'event', name, data }

/** A step that sends text or bytes. */
export const bytesOf = (content: string | Uint8Array): Step => ({
  do: 'bytes',
  bytes: typeof content === 'string' ? Buffer.from(content) : content,
})

/** A JSON response with Content-Length. */
export function* jsonSteps(status: number, value: unknown, headers: Headers = {}): Steps {
  const bytes = Buffer.from(JSON.stringify(value))
  const type = { 'content-type': 'application/json', 'content-length': String(bytes.length) }
  yield { do: 'head', status, headers: { ...type, ...headers } }
  yield { do: 'bytes', bytes }
}

/** A response with a stream of events. */
export function* streamSteps(events: Steps): Steps {
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
  yield { do: 'head', status: 200, headers }
  yield* events
}

/** Encodes events as bytes. Other steps stay unchanged. */
export function* encoded(steps: Steps): Steps {
  for (const step of steps) yield step.do === 'event' ? bytesOf(textOf(step)) : step
}

/** Serializes an event in the `text/event-stream` format. */
export const textOf = ({ name, data }: EventStep): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
