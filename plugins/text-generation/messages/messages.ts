import { oneStep } from '../../shared/background/turns.ts'
import type { Json } from '../../shared/json/json.ts'
import { isCompletion, toChatEvents } from '../chat/chat.ts'
import { withAdditions } from '../chat/request.ts'
import type { Capabilities } from '../models/routing.ts'
import {
  type Exchange,
  incompleteStreamMessage,
  type StreamRelay,
  type TranslatedProtocol,
} from '../protocol/protocol.ts'
import type { SealedReasoning } from '../protocol/sealed-reasoning.ts'
import { assembleTranslation, relayTranslation } from '../protocol/translation.ts'
import { rejectField } from '../protocol/validation.ts'
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
            assemble: () => assembleTranslation(createTranslator(request, user, false)),
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

/**
 * Up to this number, a maximum is the caller's own. This protocol requires one, so clients send what Claude can
 * generate.
 */
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

/**
 * Throws TextProblem 400 for a tool that only Anthropic's API runs, if the request demands it, or as `hostedTools` of
 * `Capabilities` says.
 */
const rejectHostedTools = (
  { hosted, demanded, only, model }: MessagesRequest,
  capabilities: Capabilities | undefined,
): void => {
  const rejected = { reject: hosted[0], drop: undefined, default: only }[capabilities?.hostedTools ?? 'default']
  const tool = demanded ?? rejected
  if (tool) rejectField(tool.param, `'${tool.type.slice(0, 100)}' is a tool that model ${model} does not have`)
}

/** The stream ends with `message_stop`, and a broken one with an error event. */
const relayMessage = (translator: MessageTranslator): StreamRelay => {
  const fail = (error: object | undefined): string =>
    errorEvent(error ? messagesErrorOf(error) : { status: 502, message: incompleteStreamMessage })
  return relayTranslation({
    push: (event) => translator.push(event),
    get complete() {
      return translator.complete
    },
    get usage() {
      return translator.usage
    },
    end() {
      try {
        return translator.end()
      } catch {
        // A call that the message cannot hold, which has begun only now.
        return fail(undefined)
      }
    },
    fail,
  })
}

const encoder = new TextEncoder()
/** Clients of this protocol wait longer after a ping, but not after a comment. */
const ping = encoder.encode(messageEventText({ type: 'ping' }))
