import { parseLossless } from '../../shared/lossless-json.ts'
import { decodeUtf8 } from '../../shared/utf8.ts'
import { type FramesOptions, parseEvent, type SseEvent } from '../../sse-relay/index.ts'
import { EventTemplate } from './template.ts'

/** An event of an upstream's stream, read once for everybody who looks at it. */
export class TextEvent implements SseEvent {
  readonly type: string
  /** What it has in common with events before it. Undefined: it is the first of its kind. */
  readonly likeness: EventTemplate | undefined
  /** What it has of its own, as JSON has it: one for each hole. */
  readonly pieces: readonly string[]
  #data: string | undefined
  #json: { readonly value: unknown } | undefined

  private constructor(
    type: string,
    data: string | undefined,
    likeness?: EventTemplate,
    pieces: readonly string[] = [],
  ) {
    this.type = type
    this.#data = data
    this.likeness = likeness
    this.pieces = pieces
  }

  static of({ type, data }: SseEvent): TextEvent {
    return new TextEvent(type, data)
  }

  /** An event like others; its data is put together for whoever asks: most often nobody does. */
  static like(type: string, likeness: EventTemplate, pieces: readonly string[]): TextEvent {
    return new TextEvent(type, undefined, likeness, pieces)
  }

  get data(): string {
    this.#data ??= this.likeness?.dataOf(this.pieces) ?? ''
    return this.#data
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
    return parseLossless(data)
  } catch {
    return undefined
  }
}

/** Reads an event. */
export const readEvent = (text: string): TextEvent | undefined => {
  const event = parseEvent(text)
  return event && TextEvent.of(event)
}

/** Reads the events of one stream, one after the other, and recognises those that are like one before: for `createFrames`. */
export class EventReader implements Pick<FramesOptions, 'parse' | 'recognise'> {
  /** The one that came last is the first. */
  readonly #known: Known[] = []
  #tried = 0

  recognise(bytes: Uint8Array): TextEvent | undefined {
    const known = this.#known
    if (known.length === 0) return undefined
    const text = decodeUtf8(bytes)
    for (let nth = 0; nth < known.length; nth++) {
      const kind = known[nth] as Known
      const pieces = kind.likeness.match(text)
      if (!pieces) continue
      if (nth > 0) {
        known.splice(nth, 1)
        known.unshift(kind)
      }
      return TextEvent.like(kind.type, kind.likeness, pieces)
    }
    return undefined
  }

  parse(text: string): TextEvent | undefined {
    const event = readEvent(text)
    if (event) this.#learn(text, event)
    return event
  }

  #learn(text: string, event: TextEvent): void {
    // What comes once is not worth it; and a stream of which no two events are alike has been tried often enough.
    if (this.#tried++ === 0 || this.#tried > maxTried || event.json === undefined) return
    const likeness = EventTemplate.of(text, event.data)
    if (!likeness?.match(text)) return
    if (this.#known.length === maxKnown) this.#known.pop()
    this.#known.unshift({ likeness, type: event.type })
  }
}

interface Known {
  readonly likeness: EventTemplate
  readonly type: string
}

/** Several texts may grow at once: choices, thoughts, arguments of calls. */
const maxKnown = 8
const maxTried = 64
