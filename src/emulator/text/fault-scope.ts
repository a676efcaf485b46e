import { listFaults } from '../fault-check.ts'
import type { Fault, Faults } from '../faults.ts'
import { textFaultFields } from './fault-fields.ts'

/** A fault registry with default actions: text faults apply to calls that generate, list faults to lists of groups and assets. */
export const withDefaultScope = (faults: Faults): Faults => ({
  ...faults,
  add: (fault) => faults.add(withDefaultAction(fault)),
})

const withDefaultAction = (fault: Fault): Fault => {
  if (Object.hasOwn(textFaultFields, fault.kind)) {
    return { ...fault, api: 'text', action: fault.action ?? /^Create(?:ChatCompletion|Completion|Response)$/ }
  }
  return listFaults.includes(fault.kind) ? { ...fault, action: fault.action ?? /^List(?!Models$|InputItems$)/ } : fault
}
