import type { Strike } from '../fault-registry.ts'
import { leakingHeaders, leakingJson } from '../leak.ts'
import { bytesOf, type Step, type Steps } from './steps.ts'

/** What a `leak` makes of an answer to a call with this key; every other fault leaves it as it is. */
export function* leaking(steps: Steps, { fault, hit }: Strike, key: string): Steps {
  if (fault.kind !== 'leak') return yield* steps
  hit()
  // the length is known with the body, which comes next
  let head: Extract<Step, { do: 'head' }> | undefined
  for (const step of steps) {
    if (step.do === 'head') {
      head = { ...step, headers: { ...step.headers, ...leakingHeaders(fault, key) } }
      continue
    }
    const told = leakingStep(step, (json) => leakingJson(json, fault, key))
    if (head !== undefined) yield withLength(head, step, told)
    head = undefined
    yield told
  }
  if (head !== undefined) yield head
}

function leakingStep(step: Step, change: (json: string) => string): Step {
  if (step.do === 'bytes') return bytesOf(change(Buffer.from(step.bytes).toString()))
  if (step.do !== 'event' || typeof step.data === 'string') return step
  return { ...step, data: change(JSON.stringify(step.data)) }
}

/** A head that announces the new length where it announced that of the whole old body. */
function withLength(head: Extract<Step, { do: 'head' }>, before: Step, after: Step): Step {
  if (before.do !== 'bytes' || after.do !== 'bytes') return head
  if (head.headers['content-length'] !== String(before.bytes.length)) return head
  return { ...head, headers: { ...head.headers, 'content-length': String(after.bytes.length) } }
}
