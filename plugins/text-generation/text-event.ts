import { parseExact } from '../shared/exact.ts'
import { parseEvent, type SseEvent } from '../sse-relay/index.ts'
import { Likeness } from './likeness.ts'

/** An event of an upstream's stream, read once for everybody who looks at it. */
export class TextEvent implements SseEvent {
  readonly type: string
  readonly data: string
  /** What it has in common with events before it. Undefined: it is the first of its kind. */
  readonly likeness: Likeness | undefined
  /** What it has of its own, as JSON has it: one for each hole. */
  readonly pieces: readonly string[]
  #json: { readonly value: unknown } | undefined

  constructor({ type, data }: SseEvent, likeness?: Likeness, pieces: readonly string[] = []) {
    this.type = type
    this.data = data
    this.likeness = likeness
    this.pieces = pieces
  }

  /** Its data, with numbers as they were written; undefined when it is no JSON. */
  get json(): unknown {
    this.#json ??= { value: jsonIn(this.data) }
    return this.#json.value
  }
}

/** The data of an event as `parseExact` reads it; undefined when it is no JSON. */
export const jsonOf = (event: SseEvent): unknown => (event instanceof TextEvent ? event.json : jsonIn(event.data))

const jsonIn = (data: string): unknown => {
  try {
    return parseExact(data)
  } catch {
    return undefined
  }
}

/** Reads an event. */
export const readEvent = (text: string): TextEvent | undefined => {
  const event = parseEvent(text)
  return event && new TextEvent(event)
}

/** Reads the events of one stream, one after the other, and knows those again that are alike. */
export const createEventReader = (): ((text: string) => TextEvent | undefined) => {
  const known: Known[] = []
  let tried = 0

  const learn = (text: string, event: TextEvent): TextEvent => {
    // What comes once is not worth it; and a stream of which no two events are alike has been tried often enough.
    if (tried++ === 0 || tried > mostTried || event.json === undefined) return event
    const likeness = Likeness.of(text, event.data)
    const pieces = likeness?.match(text)
    if (!likeness || !pieces) return event
    if (known.length === mostKnown) known.pop()
    const before = text.indexOf(event.data)
    known.unshift({ likeness, type: event.type, before, behind: text.length - before - event.data.length })
    return event
  }

  return (text) => {
    for (let nth = 0; nth < known.length; nth++) {
      const kind = known[nth] as Known
      const { likeness, type, before, behind } = kind
      const pieces = likeness.match(text)
      if (!pieces) continue
      if (nth > 0) {
        known.splice(nth, 1)
        known.unshift(kind)
      }
      return new TextEvent({ type, data: text.slice(before, text.length - behind) }, likeness, pieces)
    }
    const event = readEvent(text)
    return event && learn(text, event)
  }
}

interface Known {
  readonly likeness: Likeness
  readonly type: string
  /** Characters around the data. */
  readonly before: number
  readonly behind: number
}

/** Several texts may grow at once: choices, thoughts, arguments of calls. */
const mostKnown = 8
const mostTried = 64
