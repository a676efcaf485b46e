import { oneStep, runInTurns, runSteps } from '../../shared/background/turns.ts'
import { readJsonBody } from '../../shared/http/body/body.ts'
import { currentRequestId } from '../../shared/http/current-request.ts'
import { noStoreText } from '../../shared/http/no-store.ts'
import type { Identity } from '../../shared/identity/identify.ts'
import { isLarge, type Json } from '../../shared/json/json.ts'
import { isCompletion, toChatEvents } from '../chat/chat.ts'
import { withAdditions } from '../chat/request.ts'
import { estimateInputTokens, inputTokensOf } from '../limits/input-tokens.ts'
import { requirePermittedModels } from '../models/permitted.ts'
import type { Capabilities } from '../models/routing.ts'
import { indexInTurns } from '../protocol/index-in-turns.ts'
import {
  type Exchange,
  incompleteStreamMessage,
  type StreamRelay,
  type TranslatedProtocol,
} from '../protocol/protocol.ts'
import type { SealedReasoning } from '../protocol/sealed-reasoning.ts'
import { relayTranslation } from '../protocol/translation.ts'
import { rejectField } from '../protocol/validation.ts'
import { errorEvent, messagesErrorOf } from './problem.ts'
import { type MessagesRequest, translateMessagesRequest } from './request/messages-request.ts'
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
            assemble: () => createTranslator(request, user, false),
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
  return relayTranslation(translator, {
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

/**
 * `POST /v1/messages/count_tokens`: estimates the input tokens of a Messages request, without an upstream, which has no
 * such route for chat completions. The header `x-token-count: estimate` says so.
 */
export const countTokens = async (
  { request, models }: Pick<Identity, 'models'> & { readonly request: Request },
  { maxBodyBytes }: { readonly maxBodyBytes: number },
): Promise<Response> => {
  const { json } = await readJsonBody(request, maxBodyBytes)
  requirePermittedModels(json, models)
  // Reasoning of earlier turns counts little: upstreams drop most of it.
  const steps = translateMessagesRequest(json, { openSignature: () => undefined, generates: false })
  const { chatRequest } = isLarge(json) ? await runInTurns(steps) : runSteps(steps)
  const tokens = isLarge(json)
    ? await runInTurns(estimateInputTokens(await indexInTurns(chatRequest)))
    : inputTokensOf(chatRequest)
  return noStoreText(JSON.stringify({ input_tokens: tokens }), { 'x-token-count': 'estimate' })
}

/** Adds the id of the request in the header of Anthropic's API, from which its clients read it. */
export const withRequestIdHeader = (response: Response): Response => {
  const id = currentRequestId()
  if (id !== undefined) response.headers.set('request-id', id)
  return response
}
