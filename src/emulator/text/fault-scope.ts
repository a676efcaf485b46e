import { listFaults } from '../fault-registry.ts'
import type { Fault, Faults } from '../faults.ts'
import type { TextFaultKind } from './faults.ts'

/** The required fields of each kind of text fault. */
export const textRequiredFields: Readonly<Record<TextFaultKind['kind'], Readonly<Record<string, 'object'>>>> = {
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
  'stream-to-json': {},
  'usage-on-every-chunk': {},
  'no-usage': {},
  'tool-delta-without-index': {},
  'arguments-only-in-done': {},
  'extra-fields': {},
  'reasoning-in-content-chunk': {},
  'big-event': {},
}

/** A fault registry with default actions: text faults apply to calls that generate, list faults to lists of groups and assets. */
export const withDefaultScope = (faults: Faults): Faults => ({
  ...faults,
  add: (fault) => faults.add(withDefaultAction(fault)),
})

const withDefaultAction = (fault: Fault): Fault => {
  if (Object.hasOwn(textRequiredFields, fault.kind)) {
    return { ...fault, api: 'text', action: fault.action ?? /^Create(?:ChatCompletion|Response)$/ }
  }
  return listFaults.includes(fault.kind) ? { ...fault, action: fault.action ?? /^List(?!Models$|InputItems$)/ } : fault
}
