import { andThen } from '../../shared/awaitable.ts'
import { runInTurns, runSteps } from '../../shared/background/turns.ts'
import type { Clock } from '../../shared/clock.ts'
import { isLarge, type Json } from '../../shared/json/json.ts'
import { isCompletion, toChatEvents } from '../chat/chat.ts'
import { withAdditions } from '../chat/request.ts'
import { doneText } from '../events/text.ts'
import type { IssuedObjects } from '../objects/issued.ts'
import { incompleteStreamMessage, type Protocol, type StreamRelay } from '../protocol/protocol.ts'
import type { SealedReasoning } from '../protocol/sealed-reasoning.ts'
import { relayTranslation } from '../protocol/translation.ts'
import { validateResponsesRequest } from '../responses/request.ts'
import { passedSettings } from '../upstream/additions.ts'
import { rejectUnsupported, translateRequest } from './request/chat-request.ts'
import { createStreamTranslator, readResponseSettings, type StreamTranslator } from './response/stream-translator.ts'

export interface BridgeOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly maxResponseBytes: number
  readonly sealedReasoning: SealedReasoning
  /** Whether the gateway stores responses, so that a request can continue one. */
  readonly storesResponses: boolean
}

/** `POST /v1/responses` at an upstream that has chat completions only. */
export const bridge = ({ clock, maxResponseBytes, sealedReasoning, storesResponses }: BridgeOptions): Protocol => ({
  *validate(request, capabilities) {
    const validated = yield* validateResponsesRequest(request, capabilities)
    // Before the gateway looks up the owners of objects that the bridge cannot use.
    rejectUnsupported(storesResponses ? request.without((key) => key === 'previous_response_id') : request)
    return { ...validated, bridged: true }
  },
  toExchange(request, { model, storage }, capabilities, user) {
    const options = {
      model,
      hostedTools: capabilities.hostedTools,
      openReasoning: (sealed: string) => sealedReasoning.open(sealed, user),
    }
    const sealReasoning = sealFor(sealedReasoning, user)
    const steps = translateRequest(request, options)
    const translation = isLarge(request) ? runInTurns(steps) : runSteps(steps)
    return andThen(translation, ({ json: chatRequest, tools: { dropped, toolOf } }) => {
      const createTranslator = (streams: boolean) =>
        createStreamTranslator({
          ...{ settings: readResponseSettings(request, storage), clock, toolOf, sealReasoning, streams },
          ...(!streams && { maxCharacters: maxResponseBytes }),
        })
      return {
        droppedTools: dropped,
        action: 'CreateChatCompletion',
        path: '/chat/completions',
        body: (without) => withAdditions(withoutSettings(chatRequest, without), without, capabilities),
        native: false,
        isResponse: isCompletion,
        hasTerminalEvent: false,
        toEventStream: toChatEvents,
        assemble: () => createTranslator(false),
        relay: (issued) => relayBridged(createTranslator(true), issued),
      }
    })
  },
})

/** A function of its own: an open stream keeps it, but not the request. */
const sealFor = (sealedReasoning: SealedReasoning, user: string) => (text: string) => sealedReasoning.seal(text, user)

/** The request without the settings that the upstream has rejected. */
const withoutSettings = (request: Json, rejected: ReadonlySet<string>): Json =>
  rejected.size === 0
    ? request
    : request.without((key) => passedSettings.some((name) => name === key && rejected.has(name)))

/** The stream ends as those of `relayResponses` do. @param issued stores the response before its final event */
const relayBridged = (translator: StreamTranslator, issued: IssuedObjects | undefined): StreamRelay =>
  relayTranslation(translator, {
    end: () => translator.end() + doneText,
    fail: (error) => translator.fail(error ? messageOf(error) : incompleteStreamMessage),
    store:
      issued &&
      (() =>
        issued.recordResponse(translator.response).then(
          () => undefined,
          () => translator.fail('response could not be recorded'),
        )),
  })

const messageOf = (details: object): string => {
  const { error = details } = details as { readonly error?: unknown }
  const { message } = (typeof error === 'object' && error !== null ? error : {}) as { readonly message?: unknown }
  return typeof message === 'string' ? message : 'upstream error'
}
