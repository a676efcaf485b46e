import type { Json } from '../../shared/json/json.ts'
import { oneStep } from '../../shared/turns.ts'
import { readErrorEvent } from '../../sse-relay/index.ts'
import type { SealedReasoning } from '../bridge/sealed-reasoning.ts'
import type { Assembly } from '../call/assembly.ts'
import { type Exchange, incompleteStreamMessage, type StreamRelay, type TranslatedProtocol } from '../call/protocol.ts'
import { rejectField } from '../call/validation.ts'
import { isCompletion, toChatEvents } from '../chat/chat.ts'
import { withAdditions } from '../chat/request.ts'
import { jsonOf } from '../events/event.ts'
import { isDone } from '../events/text.ts'
import type { Capabilities } from '../models/routing.ts'
import { errorEvent, messagesErrorOf } from './problem.ts'
import { type MessagesRequest, translateMessagesRequest } from './request/request.ts'
import { messageEventText } from './response/events.ts'
import { MessageTranslator } from './response/message-translator.ts'

export interface MessagesOptions {
  readonly maxResponseBytes: number
  readonly sealedReasoning: SealedReasoning
}

/** `POST /v1/messages`: Anthropic's Messages API, translated to chat completions. */
export const messages = ({ maxResponseBytes, sealedReasoning }: MessagesOptions): TranslatedProtocol => {
  // A stream keeps what its translator refers to. So none of these functions may refer to a request.
  const openFor = (user: string) => (signature: string) => sealedReasoning.open(signature, user)
  const signFor = (user: string) => (thinking: string) => sealedReasoning.seal(thinking, user)
  const createTranslator = (
    { model, thinking, stopSequences, toolNames }: MessagesRequest,
    user: string,
    streams: boolean,
  ) =>
    new MessageTranslator({
      ...{ model, thinking, stopSequences, toolNames, streams },
      sign: signFor(user),
      maxCharacters: maxResponseBytes,
    })
  return {
    *translate(json, user) {
      const request = yield* translateMessagesRequest(json, { openSignature: openFor(user), generates: true })
      return {
        request: request.chatRequest,
        protocol: {
          validate: (_, capabilities) =>
            oneStep(() => {
              rejectHostedTools(request, capabilities)
              return { model: request.model, stream: request.stream }
            }),
          toExchange: (checkedRequest, _, capabilities) => ({
            ...exchangeOf(checkedRequest, capabilities),
            droppedTools: request.hosted.map(({ type }) => type),
            assemble: () => assembleMessage(createTranslator(request, user, false)),
            relay: () => relayMessage(createTranslator(request, user, true)),
          }),
        },
      }
    },
  }
}

const exchangeOf = (chatRequest: Json, capabilities: Capabilities) =>
  ({
    action: 'CreateChatCompletion',
    path: '/chat/completions',
    body: (without) => withAdditions(withoutRejected(chatRequest, without), without, capabilities),
    native: false,
    isResponse: isCompletion,
    hasTerminalEvent: false,
    toEventStream: toChatEvents,
    errorEvent,
    heartbeat: ping,
  }) satisfies Partial<Exchange>

/** Up to this number, a maximum is the caller's own. This protocol requires one, so clients send what Claude can generate. */
const ownMaxTokens = 4_096

/**
 * The request without what the upstream has rejected: the effort, which many models do not have, and a maximum that is
 * too large for the model. Without it, the model generates less than the caller allows.
 */
const withoutRejected = (request: Json, rejected: ReadonlySet<string>): Json =>
  rejected.size === 0
    ? request
    : request.without((key) => {
        if (key === 'max_tokens') return rejected.has(key) && Number(request.get(key)?.raw) > ownMaxTokens
        return (key === 'reasoning_effort' || key === 'parallel_tool_calls') && rejected.has(key)
      })

/** Throws TextProblem 400 for a tool that only Anthropic's API runs, if the request demands it, or as `hostedTools` of `Capabilities` says. */
const rejectHostedTools = (
  { hosted, demanded, only, model }: MessagesRequest,
  capabilities: Capabilities | undefined,
): void => {
  const rejected = { reject: hosted[0], drop: undefined, default: only }[capabilities?.hostedTools ?? 'default']
  const tool = demanded ?? rejected
  if (tool) rejectField(tool.param, `'${tool.type.slice(0, 100)}' is a tool that model ${model} does not have`)
}

const assembleMessage = (translator: MessageTranslator): Assembly => ({
  push(event) {
    if (!isDone(event.data)) translator.push(event)
  },
  get complete() {
    return translator.complete
  },
  result: () => translator.message(false),
  partial: () => translator.message(true),
  get usage() {
    return translator.usage
  },
})

/** Translates the chat stream event by event. It ends with `message_stop`, and a broken stream with an error event. */
const relayMessage = (translator: MessageTranslator): StreamRelay => {
  let ended = false
  const finish = (complete: boolean): string => {
    ended = true
    const error = errorEvent({ status: 502, message: incompleteStreamMessage })
    try {
      return complete ? translator.end() : error
    } catch {
      // A call that the message cannot hold, which has begun only now.
      return error
    }
  }
  return {
    get complete() {
      return translator.complete
    },
    get usage() {
      return translator.usage
    },
    onFrame({ event }) {
      if (!event) return undefined
      if (ended) return null
      if (isDone(event.data)) return encoder.encode(finish(translator.complete))
      const error = readErrorEvent(event, jsonOf(event))
      if (error) {
        ended = true
        return encoder.encode(errorEvent(messagesErrorOf(error)))
      }
      const text = translator.push(event)
      return text === '' ? null : encoder.encode(text)
    },
    onEnd: (broken) => (ended ? '' : finish(translator.complete && !broken)),
  }
}

const encoder = new TextEncoder()
/** Clients of this protocol wait longer after a ping, but not after a comment. */
const ping = encoder.encode(messageEventText({ type: 'ping' }))
