import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/problem.ts'
import { isReadOnlyAction } from '../library/operation.ts'
import { orMemoryWhileFull } from './full-store.ts'
import { maxStoreMs, RateLimiter } from './limiter.ts'
import { memoryRateLimitStore } from './memory-store.ts'
import { type RateLimitStore, rateLimitOf } from './store.ts'

/** The rate limits of an upstream account. */
export interface RateLimitsOptions {
  /** Calls per second by action, above 0. Other actions are not limited. */
  readonly perSecond: Readonly<Record<string, number>>
  /**
   * The store of the slots. Default `memoryRateLimitStore()`, which does not coordinate with other processes.
   *
   * While it rejects with an error of the code `ENOSPC`, calls that change nothing use slots in memory.
   */
  readonly store?: RateLimitStore
  /**
   * Maximum total wait of the calls of one request (see `callerOf`), in milliseconds. Default 5,000.
   *
   * A call is rejected with 429 and Retry-After as soon as its wait is certain to exceed this.
   */
  readonly queueMs?: number
  /**
   * Name of the account, if several of one upstream share the store: each has slots of its own. Default: there is one
   * account.
   */
  readonly account?: string | undefined
}

/** The name under which the store keeps the slots of an action. */
export const storedAction = (account: string | undefined, action: string): string =>
  account === undefined ? action : `${account} ${action}`

const defaultQueueMs = 5_000

/** Maximum milliseconds that these rate limits can delay the start of a call. 0 without rate limits. */
export const maxQueueMs = ({ perSecond, queueMs = defaultQueueMs }: RateLimitsOptions = { perSecond: {} }): number =>
  Object.keys(perSecond).length === 0 ? 0 : queueMs + maxStoreMs

/** What all rate limiters of an upstream share. */
export interface RateLimiterDefaults {
  /** Maximum duration of a call, in milliseconds. */
  readonly callMs: number
  readonly log: Log
  readonly clock: Clock
}

/** Returns the rate limiter of an action; undefined if the action is not limited. */
export type RateLimiters = (action: string) => RateLimiter | undefined

/**
 * Creates the rate limiters of all limited actions. Throws TypeError for a limit that is not above 0, and for a wrong
 * `queueMs`.
 */
export const createRateLimiters = (
  options: RateLimitsOptions | undefined,
  defaults: RateLimiterDefaults,
): RateLimiters => {
  const { perSecond = {}, store = memoryRateLimitStore(), queueMs = defaultQueueMs, account } = options ?? {}
  if (!(queueMs >= 0)) throw new TypeError('limits.queueMs must be a number from 0')
  const { callMs, log, clock } = defaults
  const whileFull = orMemoryWhileFull(store)
  const storeOf = (action: string) => (isReadOnlyAction(action) ? whileFull : store)
  const limiters = new Map(
    Object.entries(perSecond).map(([action, rate]) => [
      action,
      new RateLimiter({
        rate: rateLimitOf(storedAction(account, action), rate),
        ...{ store: storeOf(action), queueMs, callMs, clock, log },
      }),
    ]),
  )
  return (action) => limiters.get(action)
}
