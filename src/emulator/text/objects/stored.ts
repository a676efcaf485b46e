import type { Json } from '../../shared/reader.ts'
import { type GeneratedResponse, responseEvents, responseIdOf, responseOf, startedOf } from '../output/responses.ts'
import type { EventStep, Steps } from '../output/steps.ts'
import { type Item, outputItem } from './items.ts'

/** The duration of a background response, in ms of the emulator's clock. */
export interface Timeline {
  /** time in status `queued` */
  readonly queuedMs: number
  /** time in status `in_progress` */
  readonly backgroundMs: number
}

/** A response that the account stores. */
export interface StoredResponse {
  readonly id: string
  /** ms since 1970 */
  readonly at: number
  readonly generated: GeneratedResponse
  /** the items before its input */
  readonly earlier: readonly Item[]
  readonly input: readonly Item[]
  readonly output: readonly Item[]
  cancelled?: boolean
}

/** Poll interval in ms while a stream waits for a background response. */
const pollMs = 5

/** The stored form of a response. */
export const storedOf = (generated: GeneratedResponse): StoredResponse => {
  const { request, callContext } = generated
  const { output } = responseOf(generated) as { readonly output: readonly Json[] }
  return {
    ...{ id: responseIdOf(callContext), at: callContext.at, generated },
    ...{ earlier: request.earlier, input: request.input, output: output.map(outputItem) },
  }
}

/** Whether a response runs in the background. */
export const isBackground = ({ generated }: StoredResponse): boolean => generated.request.background

/** Whether a response is complete. A cancelled response never completes and has no output. */
export const hasEnded = (stored: StoredResponse, now: number, { queuedMs, backgroundMs }: Timeline): boolean => {
  if (stored.cancelled) return false
  return !isBackground(stored) || now >= stored.at + queuedMs + backgroundMs
}

/** The response object at a point in time (`now`: ms since 1970). */
export const responseAt = (stored: StoredResponse, now: number, timeline: Timeline): object => {
  const { generated, at, cancelled } = stored
  if (cancelled) return startedOf(generated, 'cancelled')
  if (hasEnded(stored, now, timeline)) return responseOf(generated)
  return startedOf(generated, now < at + timeline.queuedMs ? 'queued' : 'in_progress')
}

/** The dependencies of a stream of a background response. */
export interface Following {
  readonly clock: () => number
  readonly text: Timeline & { readonly doneOnResponses: boolean }
  /** the stored objects; the stream ends when the response is deleted */
  readonly objects: { response(id: string): StoredResponse | undefined }
}

/**
 * Streams a background response after the event number `after`. It waits for new events until the response completes or
 * is cancelled.
 */
export function* followed(stored: StoredResponse, after: number, { clock, text, objects }: Following): Steps {
  const steps = [...responseEvents(stored.generated, text.doneOnResponses)]
  const events = steps.filter((step): step is EventStep => step.do === 'event')
  for (const [number, event] of events.entries()) {
    const due = stored.at + dueAfter(number, events.length, text)
    while (clock() < due) {
      // the API has no event for a cancelled or deleted response
      if (stored.cancelled || objects.response(stored.id) !== stored) return
      yield { do: 'sleep', ms: pollMs }
    }
    if (number > after) yield event
  }
}

/**
 * The time of an event: `created` and `queued` at once, `in_progress` after `queuedMs`, the others evenly during
 * `backgroundMs`.
 */
const dueAfter = (number: number, events: number, { queuedMs, backgroundMs }: Timeline): number =>
  number < 2 ? 0 : queuedMs + (backgroundMs * (number - 2)) / Math.max(1, events - 3)
