import { parseLossless } from '../../shared/lossless-json.ts'
import { createFrames, errorOf } from '../../sse-relay/index.ts'
import type { Assembly } from '../assembly.ts'
import { chatEvents, isCompletion } from '../chat/chat.ts'
import { withAdditions } from '../chat/request.ts'
import { doneText, isDone } from '../events/done.ts'
import { jsonOf } from '../events/event.ts'
import { brokenOff, type Protocol, type Relaying } from '../protocol.ts'
import { createResponsesAssembly } from '../responses/assembly.ts'
import { checkResponsesRequest } from '../responses/request.ts'
import { refuseImpossible, toChatRequest } from './request.ts'
import { createStreamTranslator, type StreamTranslator } from './stream-translator.ts'

export interface BridgeOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly maxResponseBytes: number
}

/** `POST /v1/responses` at an upstream that has chat completions only. */
export const bridge = ({ now, maxResponseBytes }: BridgeOptions): Protocol => ({
  check(request, capabilities) {
    const checked = checkResponsesRequest(request, capabilities)
    // Before the gateway looks up the owner of a response that the request continues: the bridge cannot continue any.
    refuseImpossible(request)
    return { ...checked, bridged: true }
  },
  put(request) {
    const chatRequest = toChatRequest(request)
    const open = () => createStreamTranslator({ request, now })
    return {
      action: 'CreateChatCompletion',
      path: '/chat/completions',
      body: (without) => withAdditions(chatRequest, without),
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
  },
})

/** Feeds the assembly of responses with what the bridge makes of a chat stream, so that both ways to answer are one. */
const assembleBridged = (bridge: StreamTranslator, responses: Assembly): Assembly => {
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
const relayBridged = (bridge: StreamTranslator): Relaying => {
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
