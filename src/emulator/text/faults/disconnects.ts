import type { AppliedFault } from '../../faults/registry.ts'
import { isJson, type Json } from '../../shared/reader.ts'
import { serverError } from '../openai-error.ts'
import { bytesOf, type EventStep, eventOf, type Step, type Steps, textOf } from '../output/steps.ts'

const finalEvents: readonly unknown[] = ['response.completed', 'response.incomplete', 'response.failed']
/** Applies the faults `cut`, `error-event` and `silence` to a response. All other faults leave it unchanged. */
export const withDisconnects = (steps: Steps, applied: AppliedFault): Steps => {
  switch (applied.fault.kind) {
    case 'cut':
      return cut(steps, applied.fault, applied.hit)
    case 'error-event':
      return withErrorEvent(steps, applied.fault, applied.hit)
    case 'silence':
      return stalling(steps, applied.fault, applied)
    default:
      return steps
  }
}

type FaultOf<Kind> = Extract<AppliedFault['fault'], { readonly kind: Kind }>

function* cut(steps: Steps, { events, how = 'fin', inside }: FaultOf<'cut'>, hit: () => void): Steps {
  const at = yield* eventsBefore(steps[Symbol.iterator](), events)
  if (at === undefined) return
  hit()
  const bytes = at.do === 'bytes' ? at.bytes : Buffer.from(textOf(at))
  if (inside || at.do === 'bytes') yield bytesOf(bytes.subarray(0, bytes.length >> 1))
  // a JSON body has announced its Content-Length, so it cannot end cleanly here
  if (how !== 'clean' || at.do === 'bytes') yield { do: 'end', how: how === 'reset' ? 'reset' : 'cut' }
}

function* withErrorEvent(steps: Steps, fault: FaultOf<'error-event'>, hit: () => void): Steps {
  const { events = 0, form = 'data', done = false } = fault
  const error = { ...serverError, ...fault.error }
  let response: Json = {}
  const rest = observed(steps, (seen) => {
    response = seen
  })[Symbol.iterator]()
  const at = yield* eventsBefore(rest, 'events' in fault ? fault.events : events)
  if (at === undefined) return
  if (at.do === 'bytes') return yield* resumed(at, rest)
  hit()
  const number = isJson(at.data) ? at.data.sequence_number : undefined
  const { message, code, param } = { ...error } as Json
  if (number === undefined || form === 'data') yield eventOf({ error }, form === 'event' ? 'error' : undefined)
  else if (form === 'event') yield eventOf({ type: 'error', code, message, param, sequence_number: number }, 'error')
  else {
    const failed = { ...response, status: 'failed', error: { code: code ?? 'server_error', message } }
    yield eventOf({ type: 'response.failed', response: failed, sequence_number: number }, 'response.failed')
  }
  if (done) yield eventOf('[DONE]')
}

function* stalling(steps: Steps, { events = 0, ms }: FaultOf<'silence'>, { hit, released }: AppliedFault): Steps {
  const rest = steps[Symbol.iterator]()
  const at = events === 'headers' ? rest.next().value : yield* eventsBefore(rest, events)
  if (at === undefined) return
  const half = at.do === 'bytes' ? at.bytes.length >> 1 : 0
  if (at.do === 'bytes') yield bytesOf(at.bytes.subarray(0, half))
  hit()
  yield ms === undefined ? { do: 'wait', until: () => released } : { do: 'sleep', ms }
  yield* resumed(at.do === 'bytes' ? bytesOf(at.bytes.subarray(half)) : at, rest)
}

/**
 * Yields the steps before the fault takes effect and returns the step at which it does; undefined when the stream ends
 * first. For a JSON body that is its first bytes.
 */
function* eventsBefore(
  steps: Iterator<Step>,
  events: number | undefined,
): Generator<Step, Extract<Step, { do: 'event' | 'bytes' }> | undefined> {
  let seen = 0
  let begun = false
  for (let next = steps.next(); !next.done; next = steps.next()) {
    const step = next.value
    if (step.do === 'bytes') return step
    if (step.do === 'event') {
      if (events === undefined ? isFinal(step) : seen >= events) return step
      seen++
    }
    if (step.do === 'head') begun = true
    // the fault takes effect at once: skip the pause before the next delta
    if (step.do === 'pause' && begun && events !== undefined && seen >= events) continue
    yield step
  }
  return undefined
}

function* resumed(first: Step, rest: Iterator<Step>): Steps {
  yield first
  for (let next = rest.next(); !next.done; next = rest.next()) yield next.value
}

function* observed(steps: Steps, note: (response: Json) => void): Steps {
  for (const step of steps) {
    if (step.do === 'event' && isJson(step.data) && isJson(step.data.response)) note(step.data.response)
    yield step
  }
}

/** Whether an event is the last one of a response, or finishes a choice. */
const isFinal = ({ data }: EventStep): boolean => {
  if (!isJson(data)) return data === '[DONE]'
  if (finalEvents.includes(data.type)) return true
  const choices = Array.isArray(data.choices) ? data.choices : []
  return choices.some((choice) => isJson(choice) && typeof choice.finish_reason === 'string')
}
