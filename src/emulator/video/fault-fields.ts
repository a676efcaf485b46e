import { amount, object, oneOf, optional } from '../shared/field-types.ts'
import type { FaultFields } from '../text/faults/fault-fields.ts'
import type { VideoFaultKind } from './faults.ts'
import { rateLimitKinds } from './rate-limits.ts'

/** The fields of each kind of video fault. */
export const videoFaultFields: FaultFields<VideoFaultKind> = {
  'rate-limit': { limit: oneOf(...rateLimitKinds) },
  'repeat-callback': { copies: optional(amount) },
  'reorder-callback': {},
  'forge-callback': { body: optional(object) },
  'lose-callback': {},
}

/** Faults that apply only to callbacks, which the emulator sends. */
export const callbackFaults: readonly string[] = Object.keys(videoFaultFields).filter((kind) => kind !== 'rate-limit')
