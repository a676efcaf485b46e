import type { Json } from '../../shared/json.ts'
import { parseLossless } from '../../shared/lossless-json.ts'
import { createFrames, errorOf } from '../../sse-relay/index.ts'
import type { Assembly } from '../assembly.ts'
import { chatEvents, doneText, isCompletion } from '../chat/chat.ts'
import { withAdditions } from '../chat/request.ts'
import { jsonOf } from '../events/event.ts'
import { isDone } from '../non-streaming.ts'
import { brokenOff, type Exchange, type Relaying } from '../protocol.ts'
import { createResponsesAssembly } from '../responses/assembly.ts'
import { toChatRequest } from './request.ts'
import { type Bridge, createBridge } from './stream.ts'

export interface BridgedOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly maxResponseBytes: number
}

/** A Responses request on an upstream that has chat completions only. Throws TextProblem 400 that names what cannot be carried over. */
export const bridged = (request: Json, { now, maxResponseBytes }: BridgedOptions): Exchange => {
  const chat = toChatRequest(request)
  const open = () => createBridge({ request, now })
  return {
    action: 'CreateChatCompletion',
    path: '/chat/completions',
    body: (without) => withAdditions(chat, without),
    native: false,
    isAnswer: isCompletion,
    terminal: false,
    eventsOf: chatEvents,
    assemble: () =>
      assembleBridged(
        open(),
        createResponsesAssembly({
          get request() {
            return parseLossless(request.without((key) => key === 'input').raw)
          },
          now,
          maxBytes: maxResponseBytes,
        }),
      ),
    relay: () => relayBridged(open()),
  }
}

/** Feeds the assembly of responses with what the bridge makes of a chat stream, so that both ways to answer are one. */
const assembleBridged = (bridge: Bridge, responses: Assembly): Assembly => {
  const feed = (text: string) => {
    for (const { event } of createFrames().push(encoder.encode(text))) if (event) responses.push(event)
  }
  return {
    push(event) {
      if (!isDone(event.data)) feed(bridge.push(event))
    },
    get complete() {
      return bridge.complete
    },
    result() {
      feed(bridge.end())
      return responses.result()
    },
    partial: () => responses.partial(),
    get usage() {
      return bridge.usage
    },
  }
}

/** The stream of the one protocol made into one of the other, with the endings of `relayResponses`. */
const relayBridged = (bridge: Bridge): Relaying => {
  let over = false
  const finish = (whole: boolean): string => {
    over = true
    return whole ? bridge.end() + doneText : bridge.fail(brokenOff)
  }
  return {
    get complete() {
      return bridge.complete
    },
    get usage() {
      return bridge.usage
    },
    onFrame({ event }) {
      if (!event) return undefined
      if (over) return null
      if (isDone(event.data)) return encoder.encode(finish(bridge.complete))
      const error = errorOf(event, jsonOf(event))
      if (error) {
        over = true
        return encoder.encode(bridge.fail(messageOf(error)))
      }
      const text = bridge.push(event)
      return text === '' ? null : encoder.encode(text)
    },
    onEnd: (broken) => (over ? '' : finish(bridge.complete && !broken)),
  }
}

const messageOf = (said: object): string => {
  const { error = said } = said as { readonly error?: unknown }
  const { message } = (typeof error === 'object' && error !== null ? error : {}) as { readonly message?: unknown }
  return typeof message === 'string' ? message : 'upstream error'
}

const encoder = new TextEncoder()
