import type { Fault, Faults } from '../faults.ts'
import type { TextFaultKind } from './faults.ts'

/** The fields that each kind of text fault cannot do without. */
export const TEXT_NEEDED: Readonly<Record<TextFaultKind['kind'], Readonly<Record<string, 'object'>>>> = {
  script: { script: 'object' },
  cut: {},
  'error-event': {},
  silence: {},
  'no-done': {},
  done: {},
  'done-twice': {},
  comments: {},
  'named-events': {},
  'keepalive-events': {},
  'empty-data-lines': {},
  crlf: {},
  split: {},
  bom: {},
  'no-content-type': {},
  'json-to-stream': {},
  'sse-to-plain': {},
  'usage-on-every-chunk': {},
  'no-usage': {},
  'tool-delta-without-index': {},
  'arguments-only-in-done': {},
  'extra-fields': {},
  'reasoning-in-content-chunk': {},
  'big-event': {},
}

const LIST_KINDS: readonly string[] = ['foreign', 'missing-field', 'no-data', 'repeat-cursor']

/** A switchboard whose faults strike by default only what they are about: text faults generation, list faults lists of the library. */
export function scoped(faults: Faults): Faults {
  return { ...faults, add: (fault) => faults.add(scopedFault(fault)) }
}

function scopedFault(fault: Fault): Fault {
  if (Object.hasOwn(TEXT_NEEDED, fault.kind)) {
    return { ...fault, shape: 'text', action: fault.action ?? /^Create(?:ChatCompletion|Response)$/ }
  }
  return LIST_KINDS.includes(fault.kind) ? { ...fault, action: fault.action ?? /^List(?!Models$|InputItems$)/ } : fault
}
