import { textFaultFields } from '../text/faults/fault-fields.ts'
import { videoFaultFields } from '../video/fault-fields.ts'
import { listFaults } from './check.ts'
import type { Fault, Faults } from './faults.ts'

/**
 * A fault registry with default actions: text faults apply to calls that generate, list faults to lists of groups and
 * assets, rate limits to calls that create a video task, and faults of callbacks to callbacks.
 */
export const withDefaultScope = (faults: Faults): Faults => ({
  ...faults,
  add: (fault) => faults.add(withDefaultAction(fault)),
})

const withDefaultAction = (fault: Fault): Fault => {
  if (Object.hasOwn(textFaultFields, fault.kind)) {
    return { ...fault, api: 'text', action: fault.action ?? /^Create(?:ChatCompletion|Completion|Response)$/ }
  }
  if (Object.hasOwn(videoFaultFields, fault.kind)) {
    const action = fault.kind === 'rate-limit' ? 'CreateVideoTask' : 'SendVideoCallback'
    return { ...fault, api: 'video', action: fault.action ?? action }
  }
  return listFaults.includes(fault.kind) ? { ...fault, action: fault.action ?? /^ListAsset/ } : fault
}
