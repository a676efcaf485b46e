import { amount, object, oneOf, optional } from '../faults/field-types.ts'
import type { Json } from '../shared/reader.ts'
import type { FaultFields } from '../text/faults/faults.ts'
import { type RateLimitKind, rateLimitKinds } from './rate-limits.ts'

/**
 * The kinds of faults of video generation. By default `rate-limit` applies to create calls; the others apply to
 * callbacks.
 */
export type VideoFaultKind =
  /** 429 of this kind, before the action runs */
  | { readonly kind: 'rate-limit'; readonly limit: RateLimitKind }
  /** sends a callback `copies` times more, default once */
  | { readonly kind: 'repeat-callback'; readonly copies?: number }
  /** holds a callback until after the next one of the same task; without effect for the last one */
  | { readonly kind: 'reorder-callback' }
  /**
   * before a callback, sends another one of the same task that the vendor never sent: succeeded, with a video of
   * somebody else. `body`: fields that replace those of the forged task
   */
  | { readonly kind: 'forge-callback'; readonly body?: Json }
  /** does not send a callback */
  | { readonly kind: 'lose-callback' }

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
