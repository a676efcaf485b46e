import { type Frame, parseEvent, readErrorEvent } from '../../sse-relay/index.ts'
import { jsonOf, TextEvent } from '../events/event.ts'
import { EventTemplate } from '../events/template.ts'
import { doneText, eventText, isDone, withData } from '../events/text.ts'
import { incompleteStreamMessage, type StreamRelay } from '../protocol/protocol.ts'

/**
 * Passes a chat stream on to the caller, event by event.
 *
 * `[DONE]` comes exactly once, after a complete stream; a broken stream ends with an error event. A stream is complete
 * when it has at least one choice and every choice has finished. The gateway always requests usage from the upstream:
 * where the caller did not, the events pass without it.
 */
export const relayChat = (wantsUsage: boolean): StreamRelay => new ChatRelay(wantsUsage)

class ChatRelay implements StreamRelay {
  readonly #wantsUsage: boolean
  /** By the index of the choice. */
  readonly #finished = new Map<number, boolean>()
  /**
   * Templates of events that change no state. Value: the template of the replacement; undefined where the event passes
   * unchanged.
   */
  readonly #known = new Map<EventTemplate, EventTemplate | undefined>()
  /** After `[DONE]` or an error, all further events are dropped. */
  #ended = false
  usage: object | undefined

  constructor(wantsUsage: boolean) {
    this.#wantsUsage = wantsUsage
  }

  get complete(): boolean {
    if (this.#finished.size === 0) return false
    for (const finished of this.#finished.values()) if (!finished) return false
    return true
  }

  get isOver(): boolean {
    return this.#ended
  }

  onFrame(frame: Frame): Uint8Array | null | undefined {
    const { event } = frame
    if (this.#ended) return null
    if (!event) return undefined
    const { template, pieces } = event instanceof TextEvent ? event : withoutTemplate
    if (template && this.#known.has(template)) {
      // The first event with this template has changed the state already, so that this one need not be parsed.
      const replacement = this.#known.get(template)
      if (!replacement) return undefined
      if (replacement.isJson(pieces)) return encoder.encode(replacement.fill(pieces))
    }
    if (isDone(event.data)) {
      this.#ended = true
      return this.complete ? undefined : encoder.encode(chatFailure)
    }
    const json = jsonOf(event)
    if (readErrorEvent(event, json)) {
      this.#ended = true
      return undefined
    }
    if (typeof json !== 'object' || json === null) return undefined
    const chunk: Chunk = json
    this.#update(chunk)
    const replacement = this.#wantsUsage ? undefined : withoutUsage(frame, chunk)
    if (template) this.#remember(template, chunk, replacement)
    return replacement
  }

  onEnd(broken: boolean): string {
    if (this.#ended) return ''
    this.#ended = true
    return this.complete && !broken ? doneText : chatFailure
  }

  #update({ usage, choices }: Chunk): void {
    if (typeof usage === 'object' && usage !== null) this.usage = usage
    const finished = this.#finished
    for (const choice of Array.isArray(choices) ? choices : []) {
      const { finish_reason: reason, delta, ...rest } = (choice ?? {}) as Choice
      const index = rest.index ?? 0
      if (typeof index !== 'number' || (!finished.has(index) && finished.size >= maxChoices)) continue
      // A choice with audio may end with `expires_at` instead of a finish reason.
      const ends = (typeof reason === 'string' && reason !== '') || typeof delta?.audio?.expires_at === 'number'
      finished.set(index, finished.get(index) === true || ends)
    }
  }

  #remember(template: EventTemplate, { usage }: Chunk, replacement: Uint8Array | null | undefined): void {
    if (this.#known.size === maxKnown) this.#known.clear()
    if (usage === undefined || (usage === null && this.#wantsUsage)) this.#known.set(template, undefined)
    const changed = usage === null && replacement ? templateOf(replacement) : undefined
    if (changed?.hasHolesOf(template)) this.#known.set(template, changed)
  }
}

const templateOf = (bytes: Uint8Array): EventTemplate | undefined => {
  const text = new TextDecoder().decode(bytes)
  const event = parseEvent(text)
  return event && EventTemplate.of(text, event.data)
}

const withoutTemplate: Pick<TextEvent, 'template' | 'pieces'> = { template: undefined, pieces: [] }

/** Equal to the number of templates that an EventReader knows. */
const maxKnown = 8

/** The API's maximum of `n`. */
const maxChoices = 128
const encoder = new TextEncoder()

interface Choice {
  readonly index?: unknown
  readonly finish_reason?: unknown
  readonly delta?: { readonly audio?: { readonly expires_at?: unknown } | null } | null
}

interface Chunk {
  readonly choices?: unknown
  readonly usage?: unknown
}

/**
 * Removes what `include_usage` adds: the last chunk, which has no choices, and `usage` in all others. There it is null,
 * but some upstreams put the usage into the chunk with the finish reason, or into every chunk.
 */
const withoutUsage = (frame: Frame, { choices, usage }: Chunk): Uint8Array | null | undefined => {
  if (usage === undefined) return undefined
  if (Array.isArray(choices) && choices.length === 0 && usage !== null) return null
  return withData(frame, (json) => json.without((key) => key === 'usage'))
}

/** An event that OpenAI's client raises as an error. */
const chatFailure = eventText(
  JSON.stringify({
    error: { message: incompleteStreamMessage, type: 'server_error', param: null, code: 'upstream_error' },
  }),
)
