import type { JsonObject } from '../../shared/json.ts'
import { errorOf, type Frame, parseEvent } from '../../sse-relay/index.ts'
import { doneText, isDone } from '../events/done.ts'
import { jsonOf, TextEvent } from '../events/event.ts'
import { EventTemplate } from '../events/template.ts'
import { eventText, withData } from '../events/text.ts'
import { brokenOff, type Protocol, type Relaying } from '../protocol.ts'
import { createChatAssembly } from './assembly.ts'
import { checkChatRequest, withAdditions } from './request.ts'
import { toChunks } from './to-chunks.ts'

export interface ChatOptions {
  /** Put into requests that name no maximum. Undefined: they stay as they are. */
  readonly defaultMaxTokens: number | undefined
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly maxResponseBytes: number
}

/** `POST /v1/chat/completions`. */
export const chat = ({ defaultMaxTokens, now, maxResponseBytes }: ChatOptions): Protocol => ({
  check: checkChatRequest,
  put(request, { model, includeUsage = false }) {
    return {
      action: 'CreateChatCompletion',
      path: '/chat/completions',
      body: (without) => withAdditions(request, without, defaultMaxTokens),
      native: true,
      isAnswer: isCompletion,
      terminal: false,
      eventsOf: chatEvents,
      assemble: () => createChatAssembly({ model, now, maxBytes: maxResponseBytes }),
      relay: () => relayChat(includeUsage),
    }
  },
})

/** Whether an object is a completion. */
export const isCompletion = ({ choices }: JsonObject): boolean => Array.isArray(choices)

/** A completion as the stream that it would have been. */
export const chatEvents = (completion: unknown): string =>
  [...toChunks(completion).map((chunk) => eventText(JSON.stringify(chunk))), doneText].join('')

/**
 * Passes a chat stream on as it comes. `[DONE]` comes exactly once, after a complete stream; a broken one ends with an error. A stream is complete
 * when every choice that appeared has finished. Where the caller did not ask for usage, what the gateway's own asking brought about is taken out.
 */
export const relayChat = (wantsUsage: boolean): Relaying => new ChatRelay(wantsUsage)

class ChatRelay implements Relaying {
  readonly #wantsUsage: boolean
  readonly #finished = new Map<number, boolean>()
  /** What becomes of events that say no more than was known, by what they are like: undefined where they pass as they came. */
  readonly #known = new Map<EventTemplate, EventTemplate | undefined>()
  /** Nothing may follow: `[DONE]`, or an error. */
  #over = false
  usage: object | undefined

  constructor(wantsUsage: boolean) {
    this.#wantsUsage = wantsUsage
  }

  get complete(): boolean {
    if (this.#finished.size === 0) return false
    for (const finished of this.#finished.values()) if (!finished) return false
    return true
  }

  onFrame(frame: Frame): Uint8Array | null | undefined {
    const { event } = frame
    if (!event) return undefined
    if (this.#over) return null
    const { likeness, pieces } = event instanceof TextEvent ? event : first
    if (likeness && this.#known.has(likeness)) {
      // What the first of them has said need not be heard again.
      const changed = this.#known.get(likeness)
      if (!changed) return undefined
      if (changed.isJson(pieces)) return encoder.encode(changed.fill(pieces))
    }
    const json = jsonOf(event)
    if (json === undefined && isDone(event.data)) {
      this.#over = true
      return this.complete ? undefined : encoder.encode(chatFailure)
    }
    if (errorOf(event, json)) {
      this.#over = true
      return undefined
    }
    if (typeof json !== 'object' || json === null) return undefined
    const chunk: Chunk = json
    this.#note(chunk)
    const instead = this.#wantsUsage ? undefined : withoutUsage(frame, chunk)
    if (likeness) this.#remember(likeness, chunk, instead)
    return instead
  }

  onEnd(broken: boolean): string {
    if (this.#over) return ''
    this.#over = true
    return this.complete && !broken ? doneText : chatFailure
  }

  #note({ usage, choices }: Chunk): void {
    if (typeof usage === 'object' && usage !== null) this.usage = usage
    const finished = this.#finished
    for (const choice of Array.isArray(choices) ? choices : []) {
      const { finish_reason: reason, delta, ...place } = (choice ?? {}) as Choice
      const index = place.index ?? 0
      if (typeof index !== 'number' || (!finished.has(index) && finished.size >= maxChoices)) continue
      // Speech may end with the word of how long it is kept, instead of a reason.
      const ends = (typeof reason === 'string' && reason !== '') || typeof delta?.audio?.expires_at === 'number'
      finished.set(index, finished.get(index) === true || ends)
    }
  }

  #remember(likeness: EventTemplate, { usage }: Chunk, instead: Uint8Array | null | undefined): void {
    if (this.#known.size === maxKnown) this.#known.clear()
    if (usage === undefined || (usage === null && this.#wantsUsage)) this.#known.set(likeness, undefined)
    const changed = usage === null && instead ? likenessOf(instead) : undefined
    if (changed?.hasHolesOf(likeness)) this.#known.set(likeness, changed)
  }
}

const likenessOf = (bytes: Uint8Array): EventTemplate | undefined => {
  const text = new TextDecoder().decode(bytes)
  const event = parseEvent(text)
  return event && EventTemplate.of(text, event.data)
}

/** Of an event that is like none before it. */
const first: Pick<TextEvent, 'likeness' | 'pieces'> = { likeness: undefined, pieces: [] }

/** As many as there are kinds of event that are known again. */
const maxKnown = 8

/** As many choices as the protocol allows. */
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

/** Without what only the asking for usage adds: the last chunk, which has no choices, and `"usage":null` in all others. */
const withoutUsage = (frame: Frame, { choices, usage }: Chunk): Uint8Array | null | undefined => {
  if (usage === undefined) return undefined
  if (usage === null) return withData(frame, (json) => json.without((key) => key === 'usage'))
  return Array.isArray(choices) && choices.length === 0 ? null : undefined
}

/** What the official client raises as an error. */
const chatFailure = eventText(
  JSON.stringify({
    error: { message: brokenOff, type: 'server_error', param: null, code: 'upstream_error' },
  }),
)
