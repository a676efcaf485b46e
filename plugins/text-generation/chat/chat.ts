import { type Json, toJson } from '../../shared/json.ts'
import { errorOf, type Frame } from '../../sse-relay/index.ts'
import { isDone } from '../answer.ts'
import { toChunks } from '../bridge/answer.ts'
import { eventText, withData } from '../event-text.ts'
import { brokenOff, type Protocol, type Relaying } from '../protocol.ts'
import { createChatAssembly } from './assembly.ts'
import { asStream, checkChatRequest, withDefaultMaxTokens } from './request.ts'

export interface ChatOptions {
  /** Put into requests that name no maximum. Undefined: they stay as they are. */
  readonly defaultMaxTokens: number | undefined
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly maxAnswerBytes: number
}

/** `POST /v1/chat/completions`. */
export const chat = ({ defaultMaxTokens, now, maxAnswerBytes }: ChatOptions): Protocol => ({
  check: checkChatRequest,
  put(request, { model, includeUsage = false }, { reportsUsage }) {
    const complete = withDefaultMaxTokens(request, defaultMaxTokens)
    return {
      action: 'CreateChatCompletion',
      path: '/chat/completions',
      streamed: () => (reportsUsage === false ? complete.with('stream', toJson(true)) : asStream(complete)),
      plain: () => withoutStream(complete),
      native: true,
      isAnswer: isCompletion,
      terminal: false,
      eventsOf: chatEvents,
      assemble: () => createChatAssembly({ model, now, maxBytes: maxAnswerBytes }),
      relay: () => relayChat(includeUsage),
    }
  },
})

/** Whether an object is a completion. */
export const isCompletion = (answer: Json): boolean => answer.get('choices')?.isArray === true

/** The words for a stream taken out: for an upstream that knows none. */
export const withoutStream = (request: Json): Json =>
  request.without((key) => key === 'stream' || key === 'stream_options')

/** A completion as the stream that it would have been. */
export const chatEvents = (completion: unknown): string =>
  [...toChunks(completion).map((chunk) => eventText(JSON.stringify(chunk))), doneText].join('')

export const doneText = eventText('[DONE]')

/**
 * Passes a chat stream on as it comes. `[DONE]` comes exactly once, after a complete stream; a broken one ends with an error (reading 41). A stream is complete
 * when every choice that appeared has finished. Where the caller did not ask for usage, what the gateway's own asking brought about is taken out.
 */
export const relayChat = (wantsUsage: boolean): Relaying => {
  const finished = new Map<number, boolean>()
  let usage: object | undefined
  /** Nothing may follow: `[DONE]`, or an error. */
  let over = false
  const isComplete = () => finished.size > 0 && [...finished.values()].every(Boolean)

  const note = (chunk: Chunk) => {
    if (typeof chunk.usage === 'object' && chunk.usage !== null) usage = chunk.usage
    for (const choice of Array.isArray(chunk.choices) ? chunk.choices : []) {
      const { finish_reason: reason, delta, ...place } = (choice ?? {}) as Choice
      const index = place.index ?? 0
      if (typeof index !== 'number' || (!finished.has(index) && finished.size >= mostChoices)) continue
      // Speech may end with the word of how long it is kept, instead of a reason.
      const ends = (typeof reason === 'string' && reason !== '') || typeof delta?.audio?.expires_at === 'number'
      finished.set(index, finished.get(index) === true || ends)
    }
  }

  return {
    get complete() {
      return isComplete()
    },
    get usage() {
      return usage
    },
    onFrame(frame) {
      if (!frame.event) return undefined
      if (over) return null
      if (isDone(frame.event.data)) {
        over = true
        return isComplete() ? undefined : encoder.encode(chatFailure)
      }
      if (errorOf(frame.event)) {
        over = true
        return undefined
      }
      const chunk = chunkIn(frame.event.data)
      if (!chunk) return undefined
      note(chunk)
      return wantsUsage ? undefined : withoutUsage(frame, chunk)
    },
    onEnd(broken) {
      if (over) return ''
      over = true
      return isComplete() && !broken ? doneText : chatFailure
    },
  }
}

/** As many choices as the protocol allows. */
const mostChoices = 128
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

const chunkIn = (data: string): Chunk | undefined => {
  try {
    const value: unknown = JSON.parse(data)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
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
