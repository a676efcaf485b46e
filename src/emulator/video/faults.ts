import type { Json } from '../shared/reader.ts'
import type { RateLimitKind } from './rate-limits.ts'

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
