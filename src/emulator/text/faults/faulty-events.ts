import type { FaultKind } from '../../faults/faults.ts'
import type { AppliedFault } from '../../faults/registry.ts'
import { isJson, type Json } from '../../shared/reader.ts'
import { bytesOf, type EventStep, eventOf, type Step, type Steps } from '../output/steps.ts'

const done = '[DONE]'
const mib = 1_048_576

/** Applies a fault to the events of a stream. */
export const faultyEvents = (steps: Steps, applied: AppliedFault): Steps => {
  const change = changes[applied.fault.kind]
  return change === undefined ? steps : changed(steps, applied, change)
}

function* changed(steps: Steps, { fault, hit }: AppliedFault, change: Change): Steps {
  hit()
  yield* change(steps, fault)
}

type Change = (steps: Steps, fault: FaultKind) => Steps

const changes: { readonly [Kind in FaultKind['kind']]?: Change } = {
  'no-done': (steps) => mapped(steps, (event) => (event.data === done ? [] : [event])),
  done: (steps) => withDone(steps, 1),
  'done-twice': (steps) => withDone(steps, 2),
  comments: (steps, fault) => {
    const comment = bytesOf(`: ${(fault.kind === 'comments' && fault.text) || 'ping'}\n\n`)
    return mapped(steps, (event) => [comment, event])
  },
  'named-events': (steps) =>
    mapped(steps, ({ name, ...event }) => {
      const object = isJson(event.data) && typeof event.data.object === 'string' ? event.data.object : undefined
      return [{ ...event, name: name ?? object ?? 'message' }]
    }),
  'keepalive-events': (steps) =>
    renumbered(mapped(steps, (event) => [eventOf({ type: 'keepalive', ...numberOf(event) }, 'keepalive'), event])),
  'empty-data-lines': (steps) => mapped(steps, (event) => [bytesOf('data:\n\n'), event]),
  'no-usage': (steps) => mapped(steps, withoutUsage),
  'tool-delta-without-index': withoutIndex,
  'arguments-only-in-done': (steps) =>
    renumbered(mapped(steps, (event) => (typeOf(event) === 'response.function_call_arguments.delta' ? [] : [event]))),
  'extra-fields': (steps) => mapped(steps, (event) => [withExtras(event)]),
  'reasoning-in-content-chunk': reasoningWithContent,
  'big-event': (steps, fault) => {
    let left = (fault.kind === 'big-event' && fault.bytes) || mib
    return mapped(steps, (event) => {
      const { data } = event
      if (left === 0 || !isJson(data)) return [event]
      const obfuscation = 'x'.repeat(Math.max(0, left - JSON.stringify(data).length))
      left = 0
      return [{ ...event, data: { ...data, obfuscation } }]
    })
  },
}

function* mapped(steps: Steps, change: (event: EventStep) => readonly Step[]): Steps {
  for (const step of steps) {
    if (step.do === 'event') yield* change(step)
    else yield step
  }
}

function* withDone(steps: Steps, times: number): Steps {
  let streams = false
  for (const step of steps) {
    if (step.do === 'event') streams = true
    if (step.do !== 'event' || step.data !== done) yield step
  }
  for (let n = 0; streams && n < times; n++) yield eventOf(done)
}

/** Renumbers `sequence_number` after events were added or removed. */
const renumbered = (steps: Steps): Steps => {
  let next = 0
  return mapped(steps, (event) => {
    if (!isJson(event.data) || !('sequence_number' in event.data)) return [event]
    return [{ ...event, data: { ...event.data, sequence_number: next++ } }]
  })
}

const numberOf = ({ data }: EventStep): object =>
  isJson(data) && 'sequence_number' in data ? { sequence_number: data.sequence_number } : {}

const typeOf = ({ data }: EventStep): unknown => (isJson(data) ? data.type : undefined)

const withoutUsage = (event: EventStep): EventStep[] => {
  const { data } = event
  if (!isJson(data)) return [event]
  const { usage, ...rest } = data
  if (isJson(usage) && Array.isArray(data.choices) && data.choices.length === 0) return []
  if (!isJson(rest.response)) return [{ ...event, data: rest }]
  return [{ ...event, data: { ...rest, response: { ...rest.response, usage: null } } }]
}

/**
 * Removes `index` from tool call deltas. It sends the calls one after the other, because deltas no longer identify
 * their call.
 */
function* withoutIndex(steps: Steps): Steps {
  const held = new Map<unknown, EventStep[]>()
  for (const step of steps) {
    const [call] = step.do === 'event' ? callsIn(step) : []
    if (step.do === 'event' && call !== undefined) {
      const { index, ...bare } = call
      held.set(index, [...(held.get(index) ?? []), withDelta(step, { tool_calls: [bare] })])
    } else {
      if (step.do === 'event') {
        for (const events of held.values()) yield* events
        held.clear()
      }
      yield step
    }
  }
}

function* reasoningWithContent(steps: Steps): Steps {
  let held: EventStep | undefined
  let merged = false
  for (const step of steps) {
    const delta = step.do === 'event' ? deltaOf(step) : undefined
    if (step.do !== 'event' || merged) {
      yield step
    } else if (typeof delta?.reasoning_content === 'string') {
      if (held) yield held
      held = step
    } else if (typeof delta?.content === 'string' && delta.content !== '') {
      const { reasoning_content = 'Hm. ' } = (held && deltaOf(held)) ?? {}
      yield withDelta(step, { reasoning_content, ...delta })
      merged = true
    } else {
      if (held) yield held
      held = undefined
      yield step
    }
  }
}

const withExtras = (event: EventStep): EventStep => {
  const { data } = event
  if (!isJson(data)) return event
  const extra = { x_extra: { note: 'näh 🦊', list: [1, null] } }
  const [choice] = Array.isArray(data.choices) ? data.choices : []
  const inside = isJson(choice) ? { choices: [{ ...choice, ...extra }, ...(data.choices as []).slice(1)] } : {}
  const deeper = withDelta({ ...event, data: { ...data, ...inside, ...extra } }, { ...deltaOf(event), ...extra })
  // added as text, because a JavaScript number cannot represent it
  return { ...event, data: JSON.stringify(deeper.data).replace(/}$/, ',"x_number":12345678901234567890}') }
}

const choiceOf = ({ data }: EventStep): Json | undefined => {
  const [choice] = isJson(data) && Array.isArray(data.choices) ? data.choices : []
  return isJson(choice) ? choice : undefined
}

const deltaOf = (event: EventStep): Json | undefined => {
  const delta = choiceOf(event)?.delta
  return isJson(delta) ? delta : undefined
}

const callsIn = (event: EventStep): readonly Json[] => {
  const calls = deltaOf(event)?.tool_calls
  return Array.isArray(calls) ? calls : []
}

const withDelta = (event: EventStep, delta: object): EventStep => {
  const choice = choiceOf(event)
  if (choice === undefined || !isJson(event.data)) return event
  return { ...event, data: { ...event.data, choices: [{ ...choice, delta }] } }
}
