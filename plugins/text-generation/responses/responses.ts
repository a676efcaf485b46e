import type { Clock } from '../../shared/clock.ts'
import type { JsonObject } from '../../shared/json/parsed.ts'
import { readErrorEvent } from '../../sse-relay/index.ts'
import { jsonOf } from '../events/event.ts'
import { doneText, isDone } from '../events/text.ts'
import { StreamError } from '../protocol/assembly.ts'
import { type Exchange, incompleteStreamMessage, type Protocol, type StreamRelay } from '../protocol/protocol.ts'
import { withoutStream } from '../upstream/additions.ts'
import { withOutputMaximum } from '../upstream/output-maximum.ts'
import { createResponsesAssembly, failedEvents, type ResponsesAssembly } from './assembly.ts'
import { laterFields } from './initial-response.ts'
import { asResponsesStream, validateResponsesRequest } from './request.ts'
import { toResponseEvents } from './to-events.ts'

export interface ResponsesOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly maxResponseBytes: number
}

/** `POST /v1/responses` at an upstream that has a Responses API. */
export const responses = ({ clock, maxResponseBytes }: ResponsesOptions): Protocol => ({
  validate: validateResponsesRequest,
  toExchange(owned, { background = false }, capabilities) {
    const request = withOutputMaximum(owned, capabilities)
    return {
      action: 'CreateResponse',
      path: '/responses',
      body: (without) => (without.has('stream') ? withoutStream(request) : asResponsesStream(request)),
      // The upstream returns a background response at once, before it has generated anything.
      respondsAtOnce: background,
      ...responseHandling(laterFields(request), { clock, maxResponseBytes }),
    }
  },
})

/** `GET /v1/responses/{id}?stream=true`: streams a stored response. */
export const retrieval =
  (options: ResponsesOptions) =>
  (path: string): Exchange => ({
    action: 'GetResponse',
    path,
    body: () => undefined,
    ...responseHandling(() => ({}), options),
  })

/**
 * How the gateway reads responses.
 *
 * @param request the fields of the request, for a response that the gateway has to create
 */
const responseHandling = (request: () => unknown, { clock, maxResponseBytes }: ResponsesOptions) => {
  const assemble = () =>
    createResponsesAssembly({
      get request() {
        return request()
      },
      clock,
      maxBytes: maxResponseBytes,
    })
  return {
    native: true,
    isResponse: ({ output, object }: JsonObject) => Array.isArray(output) || object === 'response',
    hasTerminalEvent: true,
    toEventStream: toResponseEvents,
    assemble,
    relay: () => relayResponses(assemble()),
  }
}

/**
 * Passes a Responses stream on to the caller unchanged, event by event.
 *
 * `[DONE]` follows the final event, exactly once. A broken stream ends with `response.failed`, which holds the response
 * so far, and an error event.
 */
export const relayResponses = (assembly: ResponsesAssembly): StreamRelay => {
  /** After `[DONE]` or an error, all further events are dropped. */
  let ended = false
  const failure = () => failedEvents(assembly, incompleteStreamMessage)
  return {
    get complete() {
      return assembly.complete
    },
    get isOver() {
      return ended || assembly.complete
    },
    get usage() {
      return assembly.usage
    },
    onFrame({ event }) {
      if (ended) return null
      if (!event) return undefined
      const json = jsonOf(event)
      if (json === undefined && isDone(event.data)) {
        ended = true
        return assembly.complete ? undefined : encoder.encode(failure())
      }
      if (readErrorEvent(event, json)) {
        ended = true
        return undefined
      }
      try {
        assembly.push(event)
      } catch (error) {
        // The event passes all the same: the caller's library may understand it.
        if (!(error instanceof StreamError)) throw error
      }
      return undefined
    },
    onEnd() {
      if (ended) return ''
      ended = true
      return assembly.complete ? doneText : failure()
    },
  }
}

const encoder = new TextEncoder()
