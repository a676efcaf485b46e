import { type Item, outputItem } from './items.ts'
import type { Json } from './reader.ts'
import { type ResponsesAnswer, responseEvents, responseIdOf, responseOf, startedOf } from './responses.ts'
import type { EventStep, Steps } from './steps.ts'

/** How long a response that runs in the background takes, in ms of the emulator's clock. */
export interface Timeline {
  /** until it begins */
  readonly queuedMs: number
  /** from its beginning to its end */
  readonly backgroundMs: number
}

/** A response that the account keeps. */
export interface StoredResponse {
  readonly id: string
  /** ms since 1970 */
  readonly at: number
  readonly answer: ResponsesAnswer
  /** what was said before its input */
  readonly earlier: readonly Item[]
  readonly input: readonly Item[]
  readonly output: readonly Item[]
  cancelled?: boolean
}

/** Ms between two looks at the clock, while a stream waits for what runs in the background. */
const LOOK_MS = 5

export function storedOf(answer: ResponsesAnswer): StoredResponse {
  const { request, occasion } = answer
  const { output } = responseOf(answer) as { readonly output: readonly Json[] }
  return {
    ...{ id: responseIdOf(occasion), at: occasion.at, answer },
    ...{ earlier: request.earlier, input: request.input, output: output.map(outputItem) },
  }
}

export function isBackground({ answer }: StoredResponse): boolean {
  return answer.request.background
}

/** Whether a response has come to its end; one that was cancelled has no output. */
export function hasEnded(stored: StoredResponse, now: number, { queuedMs, backgroundMs }: Timeline): boolean {
  if (stored.cancelled) return false
  return !isBackground(stored) || now >= stored.at + queuedMs + backgroundMs
}

/** The response object as it is at a moment. */
export function responseAt(stored: StoredResponse, now: number, timeline: Timeline): object {
  const { answer, at, cancelled } = stored
  if (cancelled) return startedOf(answer, 'cancelled')
  if (hasEnded(stored, now, timeline)) return responseOf(answer)
  return startedOf(answer, now < at + timeline.queuedMs ? 'queued' : 'in_progress')
}

/** What the stream of a response follows. */
export interface Following {
  readonly clock: () => number
  readonly text: Timeline & { readonly doneOnResponses: boolean }
  /** where it has to be kept as long as it is followed */
  readonly objects: { response(id: string): StoredResponse | undefined }
}

/** The stream of a response that runs in the background, behind an event; it follows as the response grows, until it ends or is cancelled. */
export function* followed(stored: StoredResponse, after: number, { clock, text, objects }: Following): Steps {
  const steps = [...responseEvents(stored.answer, text.doneOnResponses)]
  const events = steps.filter((step): step is EventStep => step.do === 'event')
  for (const [number, event] of events.entries()) {
    const due = stored.at + dueAfter(number, events.length, text)
    while (clock() < due) {
      // the protocol has no event that says so
      if (stored.cancelled || objects.response(stored.id) !== stored) return
      yield { do: 'sleep', ms: LOOK_MS }
    }
    if (number > after) yield event
  }
}

/** `created` and `queued` come at once, `in_progress` when it begins, the others evenly until its end. */
function dueAfter(number: number, events: number, { queuedMs, backgroundMs }: Timeline): number {
  return number < 2 ? 0 : queuedMs + (backgroundMs * (number - 2)) / Math.max(1, events - 3)
}
