import { errorOf } from '../../sse-relay/index.ts'
import { isDone } from '../answer.ts'
import { StreamError } from '../assembly.ts'
import { bridged } from '../bridge/bridged.ts'
import { doneText, withoutStream } from '../chat/chat.ts'
import { brokenOff, type Protocol, type Relaying } from '../protocol.ts'
import { createResponsesAssembly, failedEvents, type ResponsesAssembly } from './assembly.ts'
import { replayResponse } from './replay.ts'
import { asResponsesStream, checkResponsesRequest } from './request.ts'

export interface ResponsesOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly maxAnswerBytes: number
}

/** `POST /v1/responses`; where an upstream has no such thing, bridged to what it has. */
export const responses = ({ now, maxAnswerBytes }: ResponsesOptions): Protocol => ({
  check: checkResponsesRequest,
  put(request, _checked, { chatOnly, reportsUsage }) {
    if (chatOnly) return bridged(request, { now, maxAnswerBytes, reportsUsage })
    const assemble = () => createResponsesAssembly({ request: request.value(), now, maxBytes: maxAnswerBytes })
    return {
      action: 'CreateResponse',
      path: '/responses',
      streamed: () => asResponsesStream(request),
      plain: () => withoutStream(request),
      native: true,
      isAnswer: (answer) => answer.get('output')?.isArray === true || answer.get('object')?.string() === 'response',
      // What runs in the background answers at once that it does.
      atOnce: request.get('background')?.value() === true,
      terminal: true,
      eventsOf: replayResponse,
      assemble,
      relay: () => relayResponses(assemble()),
    }
  },
})

/**
 * Passes a Responses stream on as it comes. `[DONE]` follows the terminal event, exactly once; a broken stream ends with `response.failed`, which holds the response
 * as far as it is known, and an error (reading 41).
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
      if (isDone(event.data)) {
        over = true
        return known.complete ? undefined : encoder.encode(failure())
      }
      if (errorOf(event)) {
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
