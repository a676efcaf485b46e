import { JsonError, maxBytesAtOnce } from '../../shared/json/json.ts'
import { parseOrUndefined } from '../../shared/json/lossless.ts'
import { parseJsonInTurns } from '../../shared/json/parse-in-turns.ts'
import { decodeUtf8 } from '../../shared/text.ts'
import { type FrameSplitterOptions, parseEvent, type SseEvent } from '../../sse-relay/index.ts'
import { EventTemplate } from './template.ts'

/** An event of an upstream's stream, parsed at most once. */
export class TextEvent implements SseEvent {
  readonly type: string
  /** The template that it matches. Undefined: it is the first of its kind. */
  readonly template: EventTemplate | undefined
  /** The text in each hole of the template, as JSON source. */
  readonly pieces: readonly string[]
  #data: string | undefined
  #json: { readonly value: unknown } | undefined

  private constructor(
    type: string,
    data: string | undefined,
    template?: EventTemplate,
    pieces: readonly string[] = [],
  ) {
    this.type = type
    this.#data = data
    this.template = template
    this.pieces = pieces
  }

  static of({ type, data }: SseEvent): TextEvent {
    return new TextEvent(type, data)
  }

  /** Creates an event that matches a template. Its data is built when it is read, which is rare. */
  static fromTemplate(type: string, template: EventTemplate, pieces: readonly string[]): TextEvent {
    return new TextEvent(type, undefined, template, pieces)
  }

  get data(): string {
    this.#data ??= this.template?.dataOf(this.pieces) ?? ''
    return this.#data
  }

  /** The data, parsed with `parseLossless`. Undefined when it is not JSON. */
  get json(): unknown {
    this.#json ??= { value: parseOrUndefined(this.data) }
    return this.#json.value
  }

  /** Parses long data over several turns of the event loop. */
  async prepare(): Promise<void> {
    try {
      this.#json ??= { value: await parseJsonInTurns(this.data) }
    } catch (error) {
      if (!(error instanceof JsonError)) throw error
      this.#json = { value: undefined }
    }
  }
}

/** The data of an event, parsed with `parseLossless`. Undefined when it is not JSON. */
export const jsonOf = (event: SseEvent): unknown =>
  event instanceof TextEvent ? event.json : parseOrUndefined(event.data)

/** Parses the text of a frame. */
export const readEvent = (text: string): TextEvent | undefined => {
  const event = parseEvent(text)
  return event && TextEvent.of(event)
}

const prepareEvent = async (event: SseEvent): Promise<void> => {
  if (event instanceof TextEvent) await event.prepare()
}

/** Parses each event on its own. */
export const textEvents: FrameSplitterOptions = { parse: readEvent, prepare: prepareEvent }

/**
 * Parses the events of one stream, and recognises those that match a template of an earlier event. For
 * `createFrameSplitter`.
 */
export class EventReader implements Pick<FrameSplitterOptions, 'parse' | 'recognise' | 'prepare'> {
  /** Most recently matched first. */
  readonly #templates: KnownTemplate[] = []
  #parsed = 0

  recognise(bytes: Uint8Array): TextEvent | undefined {
    const templates = this.#templates
    if (templates.length === 0) return undefined
    const text = decodeUtf8(bytes)
    for (let index = 0; index < templates.length; index++) {
      const known = templates[index] as KnownTemplate
      const pieces = known.template.match(text)
      if (!pieces) continue
      if (index > 0) {
        templates.splice(index, 1)
        templates.unshift(known)
      }
      return TextEvent.fromTemplate(known.type, known.template, pieces)
    }
    return undefined
  }

  readonly prepare = prepareEvent

  parse(text: string): TextEvent | undefined {
    const event = readEvent(text)
    if (event) this.#learn(text, event)
    return event
  }

  #learn(text: string, event: TextEvent): void {
    // The first event is usually unique. A stream whose events are all different is not worth further attempts.
    if (this.#parsed++ === 0 || this.#parsed > maxParsed) return
    // Its JSON may have very many values, and no other event resembles it.
    if (text.length > maxBytesAtOnce) return
    const template = EventTemplate.of(text, event.data)
    if (!template?.match(text) || event.json === undefined) return
    if (this.#templates.length === maxTemplates) this.#templates.pop()
    this.#templates.unshift({ template, type: event.type })
  }
}

interface KnownTemplate {
  readonly template: EventTemplate
  readonly type: string
}

/** Several texts may arrive interleaved: choices, reasoning, arguments of tool calls. */
const maxTemplates = 8
const maxParsed = 64
