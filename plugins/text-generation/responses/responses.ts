import type { Json, JsonObject } from '../../shared/json.ts'
import { parseLossless } from '../../shared/lossless-json.ts'
import { errorOf } from '../../sse-relay/index.ts'
import { StreamError } from '../assembly.ts'
import { doneText, isDone } from '../events/done.ts'
import { jsonOf } from '../events/event.ts'
import { brokenOff, type Exchange, type Protocol, type Relaying } from '../protocol.ts'
import { withoutStream } from '../stream-fields.ts'
import { createResponsesAssembly, failedEvents, type ResponsesAssembly } from './assembly.ts'
import { replayResponse } from './replay.ts'
import { asResponsesStream, checkResponsesRequest } from './request.ts'

export interface ResponsesOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly maxResponseBytes: number
}

/** `POST /v1/responses` at an upstream that has a Responses API. */
export const responses = ({ now, maxResponseBytes }: ResponsesOptions): Protocol => ({
  check: checkResponsesRequest,
  put(request, { background = false }) {
    return {
      action: 'CreateResponse',
      path: '/responses',
      body: (without) => (without.has('stream') ? withoutStream(request) : asResponsesStream(request)),
      // What runs in the background answers at once that it does.
      atOnce: background,
      ...answers(() => echoOf(request), { now, maxResponseBytes }),
    }
  },
})

/** Fetches a response that the upstream keeps, as the stream that it was, or still is. */
export const retrieval =
  (options: ResponsesOptions) =>
  (path: string): Exchange => ({
    action: 'GetResponse',
    path,
    body: () => undefined,
    ...answers(() => ({}), options),
  })

/** What a response repeats of its request: its input is not among it, which may be large. */
const echoOf = (request: Json): unknown => parseLossless(request.without((key) => key === 'input').raw)

/** What answers mean. `request`: the request's body, parsed, for a response that has to be made up. */
const answers = (request: () => unknown, { now, maxResponseBytes }: ResponsesOptions) => {
  const assemble = () =>
    createResponsesAssembly({
      get request() {
        return request()
      },
      now,
      maxBytes: maxResponseBytes,
    })
  return {
    native: true,
    isAnswer: ({ output, object }: JsonObject) => Array.isArray(output) || object === 'response',
    terminal: true,
    eventsOf: replayResponse,
    assemble,
    relay: () => relayResponses(assemble()),
  }
}

/**
 * Passes a Responses stream on as it comes. `[DONE]` follows the terminal event, exactly once; a broken stream ends with `response.failed`, which holds the response
 * as far as it is known, and an error.
 */
export const relayResponses = (known: ResponsesAssembly): Relaying => {
  /** Nothing may follow: `[DONE]`, or an error. */
  let over = false
  const failure = () => failedEvents(known, brokenOff)
  return {
    get complete() {
      return known.complete
    },
    get usage() {
      return known.usage
    },
    onFrame({ event }) {
      if (!event) return undefined
      if (over) return null
      const json = jsonOf(event)
      if (json === undefined && isDone(event.data)) {
        over = true
        return known.complete ? undefined : encoder.encode(failure())
      }
      if (errorOf(event, json)) {
        over = true
        return undefined
      }
      try {
        known.push(event)
      } catch (error) {
        // What cannot be understood passes all the same: the caller may understand it.
        if (!(error instanceof StreamError)) throw error
      }
      return undefined
    },
    onEnd() {
      if (over) return ''
      over = true
      return known.complete ? doneText : failure()
    },
  }
}

const encoder = new TextEncoder()
