import { andThen } from '../../shared/awaitable.ts'
import type { Clock } from '../../shared/clock.ts'
import { isLarge, type Json } from '../../shared/json/json.ts'
import { runInTurns, runSteps } from '../../shared/turns.ts'
import { createFrameSplitter, readErrorEvent } from '../../sse-relay/index.ts'
import type { Assembly } from '../call/assembly.ts'
import { incompleteStreamMessage, type Protocol, type StreamRelay } from '../call/protocol.ts'
import { isCompletion, toChatEvents } from '../chat/chat.ts'
import { withAdditions } from '../chat/request.ts'
import { jsonOf } from '../events/event.ts'
import { doneText, isDone } from '../events/text.ts'
import { newGatewayIdPart } from '../objects/gateway-ids.ts'
import type { IssuedObjects } from '../objects/issued.ts'
import { createResponsesAssembly } from '../responses/assembly.ts'
import { validateResponsesRequest } from '../responses/request.ts'
import { passedSettings } from '../upstream/additions.ts'
import { rejectUnsupported, translateRequest } from './request/request.ts'
import {
  bridgedRequestFields,
  createStreamTranslator,
  readResponseSettings,
  type StreamTranslator,
} from './response/stream-translator.ts'
import type { SealedReasoning } from './sealed-reasoning.ts'

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
      const createTranslator = () =>
        createStreamTranslator({ settings: readResponseSettings(request, storage), clock, toolOf, sealReasoning })
      return {
        droppedTools: dropped,
        action: 'CreateChatCompletion',
        path: '/chat/completions',
        body: (without) => withAdditions(withoutSettings(chatRequest, without), without, capabilities),
        native: false,
        isResponse: isCompletion,
        hasTerminalEvent: false,
        toEventStream: toChatEvents,
        assemble: () =>
          assembleBridged(
            createTranslator(),
            createResponsesAssembly({
              get request() {
                return bridgedRequestFields(request, storage)
              },
              newId: newGatewayIdPart,
              clock,
              maxBytes: maxResponseBytes,
            }),
          ),
        relay: (issued) => relayBridged(createTranslator(), issued),
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

/** Translates the chat stream and assembles the translated events, so that both kinds of responses take the same path. */
const assembleBridged = (translator: StreamTranslator, assembly: Assembly): Assembly => {
  const feed = (text: string) => {
    for (const { event } of createFrameSplitter().push(encoder.encode(text))) if (event) assembly.push(event)
  }
  return {
    push(event) {
      if (!isDone(event.data)) feed(translator.push(event))
    },
    get complete() {
      return translator.complete
    },
    result() {
      feed(translator.end())
      return assembly.result()
    },
    partial: () => assembly.partial(),
    get usage() {
      return translator.usage
    },
  }
}

/**
 * Translates the chat stream event by event. The stream ends as those of `relayResponses` do.
 *
 * @param issued stores the response before its final event. It ends the stream at `[DONE]`
 */
const relayBridged = (translator: StreamTranslator, issued: IssuedObjects | undefined): StreamRelay => {
  let ended = false
  let done = false
  const finish = (complete: boolean): string => {
    ended = true
    return complete ? translator.end() + doneText : translator.fail(incompleteStreamMessage)
  }
  const store = async ({ recordResponse }: IssuedObjects): Promise<string> => {
    const text = finish(true)
    try {
      await recordResponse(translator.response)
      return text
    } catch {
      return translator.fail('response could not be recorded')
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
      if (ended || done) return null
      done = isDone(event.data)
      if (done) return issued ? null : encoder.encode(finish(translator.complete))
      const error = readErrorEvent(event, jsonOf(event))
      if (error) {
        ended = true
        return encoder.encode(translator.fail(messageOf(error)))
      }
      const text = translator.push(event)
      return text === '' ? null : encoder.encode(text)
    },
    onEnd(broken) {
      if (ended) return ''
      const complete = translator.complete && !broken
      return complete && issued ? store(issued) : finish(complete)
    },
  }
}

const messageOf = (details: object): string => {
  const { error = details } = details as { readonly error?: unknown }
  const { message } = (typeof error === 'object' && error !== null ? error : {}) as { readonly message?: unknown }
  return typeof message === 'string' ? message : 'upstream error'
}

const encoder = new TextEncoder()
