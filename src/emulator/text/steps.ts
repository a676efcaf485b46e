/** Response headers; a list is sent as several lines. */
export type Headers = Readonly<Record<string, string | string[]>>

/** One thing that an answer does on the wire. */
export type Step =
  /** sends status and headers; nothing is sent before it */
  | { readonly do: 'head'; readonly status: number; readonly headers: Headers }
  /** sends an event; a string as it is, anything else as JSON */
  | { readonly do: 'event'; readonly name?: string; readonly data: unknown }
  | { readonly do: 'bytes'; readonly bytes: Uint8Array }
  /** takes the time of so many deltas */
  | { readonly do: 'pause'; readonly deltas: number }
  | { readonly do: 'sleep'; readonly ms: number }
  | { readonly do: 'wait'; readonly until: () => Promise<unknown> }
  /** ends the connection: `cut` closes it (FIN) before the body is whole, `reset` resets it. Without it, a body ends tidily */
  | { readonly do: 'end'; readonly how: 'cut' | 'reset' }

/** All that an answer does, computed when it is asked for: nothing is generated for a caller that has left. */
export type Steps = Iterable<Step>

/** An event on its way out. */
export type EventStep = Extract<Step, { do: 'event' }>

/** A delta of a stream: takes its time, then is sent. */
export function* delta(event: EventStep): Steps {
  yield { do: 'pause', deltas: 1 }
  yield event
}

export function eventOf(data: unknown, name?: string): EventStep {
  return name === undefined ? { do: 'event', data } : { do: 'event', name, data }
}

export function bytesOf(content: string | Uint8Array): Step {
  return { do: 'bytes', bytes: typeof content === 'string' ? Buffer.from(content) : content }
}

/** An answer of JSON with its length. */
export function* jsonSteps(status: number, value: unknown, headers: Headers = {}): Steps {
  const bytes = Buffer.from(JSON.stringify(value))
  const type = { 'content-type': 'application/json', 'content-length': String(bytes.length) }
  yield { do: 'head', status, headers: { ...type, ...headers } }
  yield { do: 'bytes', bytes }
}

/** A stream of events. */
export function* streamSteps(events: Steps): Steps {
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
  yield { do: 'head', status: 200, headers }
  yield* events
}

/** Events as the bytes they are; what are bytes already stays. */
export function* encoded(steps: Steps): Steps {
  for (const step of steps) yield step.do === 'event' ? bytesOf(textOf(step)) : step
}

/** An event in the form of a stream. */
export function textOf({ name, data }: EventStep): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}
