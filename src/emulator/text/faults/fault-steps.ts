import type { Call } from '../../calls.ts'
import { type FaultKind, isEarly } from '../../faults/faults.ts'
import { leakingHeaders, leakingJson } from '../../faults/leak.ts'
import type { AppliedFault } from '../../faults/registry.ts'
import { serverError } from '../openai-error.ts'
import { bytesOf, encoded, jsonSteps, type Step, type Steps } from '../output/steps.ts'
import { withDisconnects } from './disconnects.ts'
import type { ScriptChunk } from './faults.ts'
import { faultyBytes } from './faulty-bytes.ts'
import { faultyEvents } from './faulty-events.ts'

/**
 * Applies all faults of a call to its response. `key`: the credential for `leak`. Nothing is generated before the first
 * step is read.
 */
export const faultySteps = (normal: Steps, appliedFaults: readonly AppliedFault[], call: Call, key: string): Steps => {
  const late = appliedFaults.filter(({ fault }) => !isEarly(fault))
  const work = appliedFaults.reduceRight((steps, applied) => scripted(steps, applied, call), normal)
  // `cut`, `error-event` and `silence` count the original events, without those that other faults add
  const broken = late.reduce(faultyEvents, late.reduce(withDisconnects, work))
  const events = late.reduce((steps, applied) => leaking(steps, applied, key), broken)
  const response = late.reduce(withLateFault, late.reduce(faultyBytes, encoded(events)))
  // the fault that was added first applies first, and can end the call
  return appliedFaults.filter(({ fault }) => isEarly(fault)).reduceRight(withEarlyFault, response)
}

function* withEarlyFault(steps: Steps, { fault, hit, released }: AppliedFault): Steps {
  hit()
  if (fault.kind === 'reset-before') return yield { do: 'end', how: 'reset' }
  if (fault.kind === 'hang') return yield forever
  if (fault.kind === 'hold') yield { do: 'wait', until: () => released }
  if (fault.kind === 'delay') yield { do: 'sleep', ms: fault.ms }
  yield* fixedResponse(fault) ?? steps
}

function* withLateFault(steps: Steps, { fault, hit, released }: AppliedFault): Steps {
  const { kind } = fault
  if (kind !== 'reset-after' && kind !== 'hang' && kind !== 'hold' && kind !== 'status') return yield* steps
  // reading the first step generates the response
  const rest = steps[Symbol.iterator]()
  const first = rest.next()
  hit()
  if (kind === 'reset-after') return yield { do: 'end', how: 'reset' }
  if (kind === 'hang') return yield forever
  if (kind === 'status') return yield* fixedResponse(fault) ?? []
  yield { do: 'wait', until: () => released }
  for (let step = first; !step.done; step = rest.next()) yield step.value
}

const fixedResponse = (fault: FaultKind): Steps | undefined => {
  if (fault.kind === 'redirect') {
    return [{ do: 'head', status: fault.status ?? 302, headers: { location: fault.location, 'content-length': '0' } }]
  }
  if (fault.kind !== 'status') return undefined
  if (fault.body === undefined) return jsonSteps(fault.status, { error: serverError }, fault.headers)
  const body = Buffer.from(fault.body)
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length), ...fault.headers }
  return [{ do: 'head', status: fault.status, headers }, bytesOf(body)]
}

const forever: Step = { do: 'wait', until: () => new Promise(() => {}) }

/** Applies the fault `leak` to a response. `key`: the credential to leak. All other faults leave it unchanged. */
function* leaking(steps: Steps, { fault, hit }: AppliedFault, key: string): Steps {
  if (fault.kind !== 'leak') return yield* steps
  hit()
  // holds the head back: its Content-Length depends on the body, which is the next step
  let head: Extract<Step, { do: 'head' }> | undefined
  for (const step of steps) {
    if (step.do === 'head') {
      head = { ...step, headers: { ...step.headers, ...leakingHeaders(fault, key) } }
      continue
    }
    const changed = leakingStep(step, (json) => leakingJson(json, fault, key))
    if (head !== undefined) yield withLength(head, step, changed)
    head = undefined
    yield changed
  }
  if (head !== undefined) yield head
}

const leakingStep = (step: Step, change: (json: string) => string): Step => {
  if (step.do === 'bytes') return bytesOf(change(Buffer.from(step.bytes).toString()))
  if (step.do !== 'event' || typeof step.data === 'string') return step
  return { ...step, data: change(JSON.stringify(step.data)) }
}

/** Updates Content-Length if it was the length of the original body. */
const withLength = (head: Extract<Step, { do: 'head' }>, before: Step, after: Step): Step => {
  if (before.do !== 'bytes' || after.do !== 'bytes') return head
  if (head.headers['content-length'] !== String(before.bytes.length)) return head
  return { ...head, headers: { ...head.headers, 'content-length': String(after.bytes.length) } }
}

const eventStreamHeaders = { 'content-type': 'text/event-stream; charset=utf-8' }

/** Replaces a response by its script. Faults of other kinds leave it unchanged. */
function* scripted(steps: Steps, { fault, hit }: AppliedFault, call: Call): Steps {
  if (fault.kind !== 'script') return yield* steps
  hit()
  const {
    status = 200,
    headers = eventStreamHeaders,
    chunks = [],
    end = 'close',
  } = typeof fault.script === 'function' ? fault.script(call) : fault.script
  yield { do: 'head', status, headers }
  for (const chunk of chunks) yield stepOf(chunk)
  if (end !== 'close') yield { do: 'end', how: end }
}

const stepOf = (chunk: ScriptChunk): Step => {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return bytesOf(chunk)
  const { wait } = chunk
  return typeof wait === 'number' ? { do: 'sleep', ms: wait } : { do: 'wait', until: () => wait }
}
