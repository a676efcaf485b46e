import { type Clock, systemClock } from '../../shared/clock.ts'
import { type Log, noLog } from '../../shared/problem.ts'
import { answerMs, RateLimiter } from './limiter.ts'
import { memoryRateLimitStore } from './memory-store.ts'
import { type RateLimitStore, rateLimitOf } from './store.ts'

export interface RateLimitsOptions {
  /** Calls a second by action, above 0; an action that is not named is not limited. */
  readonly perSecond: Readonly<Record<string, number>>
  /** Where places are taken. Default `memoryPlaces()`, which knows nothing of other processes. */
  readonly store?: RateLimitStore
  /**
   * Longest that the calls of one request (see `callerOf`) wait for places altogether, in milliseconds. Beyond it, and as soon as it is certain, Problem 429 with
   * Retry-After. Default 5,000.
   */
  readonly queueMs?: number
}

const defaultQueueMs = 5_000

/** Milliseconds that may pass under these limits before a call begins. 0 where nothing is limited. */
export const maxQueueMs = ({ perSecond, queueMs = defaultQueueMs }: RateLimitsOptions = { perSecond: {} }): number =>
  Object.keys(perSecond).length === 0 ? 0 : queueMs + answerMs

export interface CallOptions {
  /** Longest time from the beginning of a call to its end, in milliseconds. */
  readonly callMs: number
  readonly log?: Log
  /** Default the system's. */
  readonly clock?: Clock
}

/** The gate of an action; undefined when the action is not limited. */
export type RateLimits = (action: string) => RateLimiter | undefined

/** Gates for the actions that are limited. Throws RangeError for a limit that is not above 0. */
export const createRateLimits = (options: RateLimitsOptions | undefined, calls: CallOptions): RateLimits => {
  const { perSecond = {}, store: places = memoryRateLimitStore(), queueMs = defaultQueueMs } = options ?? {}
  const { callMs, log = noLog, clock = systemClock } = calls
  const gates = new Map(
    Object.entries(perSecond).map(([action, rate]) => [
      action,
      new RateLimiter({ rate: rateLimitOf(action, rate), store: places, queueMs, callMs, clock, log }),
    ]),
  )
  return (action) => gates.get(action)
}
