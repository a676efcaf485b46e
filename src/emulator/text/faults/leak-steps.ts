import { leakingHeaders, leakingJson } from '../../faults/leak.ts'
import type { AppliedFault } from '../../faults/registry.ts'
import { bytesOf, type Step, type Steps } from '../output/steps.ts'

/** Applies the fault `leak` to a response. `key`: the credential to leak. All other faults leave it unchanged. */
export function* leaking(steps: Steps, { fault, hit }: AppliedFault, key: string): Steps {
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
