import type { Clock } from '../../shared/clock.ts'
import type { JsonObject } from '../../shared/json/parsed.ts'
import { doneText, eventText } from '../events/text.ts'
import type { Protocol } from '../protocol/protocol.ts'
import { createChatAssembly } from './assembly.ts'
import { toChunks } from './chunk.ts'
import { relayChat } from './relay.ts'
import { validateChatRequest, withAdditions } from './request.ts'

export interface ChatOptions {
  /** Tokens. Added to requests that set no maximum. Undefined: nothing is added. */
  readonly defaultMaxTokens: number | undefined
  readonly clock: Pick<Clock, 'now'>
  readonly maxResponseBytes: number
}

/** `POST /v1/chat/completions`. */
export const chat = ({ defaultMaxTokens, clock, maxResponseBytes }: ChatOptions): Protocol => ({
  validate: validateChatRequest,
  toExchange(request, { model, includeUsage = false }, capabilities) {
    return {
      action: 'CreateChatCompletion',
      path: '/chat/completions',
      body: (without) => withAdditions(request, without, capabilities, defaultMaxTokens),
      native: true,
      isResponse: isCompletion,
      hasTerminalEvent: false,
      toEventStream: toChatEvents,
      assemble: () => createChatAssembly({ model, clock, maxBytes: maxResponseBytes }),
      relay: () => relayChat(includeUsage),
    }
  },
})

/** Whether an object is a chat completion. */
export const isCompletion = ({ choices }: JsonObject): boolean => Array.isArray(choices)

/** The event stream of a whole chat completion, `[DONE]` included. */
export const toChatEvents = (completion: unknown): string =>
  [...toChunks(completion).map((chunk) => eventText(JSON.stringify(chunk))), doneText].join('')
