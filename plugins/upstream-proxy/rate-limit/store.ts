import { maxWaitMs } from '../retry-after.ts'

/** The rate limit of an action: at most `count` calls in any window of `periodMs`. It is a sliding window. */
export interface RateLimit {
  readonly action: string
  /** Number of slots: an integer of at least 1. */
  readonly count: number
  /** Milliseconds from the response of a call until its slot is free again. */
  readonly periodMs: number
}

/**
 * Converts calls per second into slots: 10 is 10 slots of 1 s each, 2.5 is 2 slots of 800 ms, 0.05 is 1 slot of 20 s.
 *
 * Throws TypeError unless `perSecond` is a finite number above 0.
 */
export const rateLimitOf = (action: string, perSecond: number): RateLimit => {
  if (!(perSecond > 0) || !Number.isFinite(perSecond))
    throw new TypeError(`the rate limit of ${action} must be a number above 0`)
  const count = Math.max(1, Math.floor(perSecond))
  return { action, count, periodMs: Math.ceil((count / perSecond) * 1000) }
}

/**
 * For how long from now a slot can be blocked, in milliseconds. `Retry-After` is the longest reason. A slot that is
 * blocked for longer comes from a clock that was ahead.
 */
export const maxBlockMs = ({ periodMs }: Pick<RateLimit, 'periodMs'>): number => maxWaitMs + 2 * periodMs

/** A request for a slot. All times are milliseconds since 1970. */
export interface PermitRequest extends RateLimit {
  /** The user whose turn the call takes. Empty for calls without a user, which share one turn. */
  readonly user: string
  readonly now: number
  /**
   * The end of the lease. The slot then becomes free without a release, so it is not lost if the process dies. It must
   * be after the end of the call.
   */
  readonly leaseUntil: number
}

/** Permission for one call: a slot that was taken. */
export interface RateLimitPermit {
  readonly action: string
  /** Number of the slot, from 0. */
  readonly number: number
  readonly leaseUntil: number
}

/** The result when no slot was available to the user. */
export interface RateLimitDelay {
  /** The earliest time at which a new attempt can succeed. Milliseconds since 1970. */
  readonly nextAt: number
  /** When any process last gave the user a slot while others waited. Milliseconds since 1970; 0 if that is long ago. */
  readonly servedAt: number
}

/**
 * Store port of the rate limiter: the slots of one upstream account, shared by all processes that use the account.
 *
 * A call takes a slot before it starts. The slot becomes free one period after the response. So two calls with the same
 * slot reach the upstream at least one period apart, whatever the network delay is, and no window of one period
 * contains more calls than there are slots.
 *
 * While calls wait, a free slot is reserved for the waiting user who was served least recently, in any process. The
 * reservation ends after `reservationMs`. Then every user may take the slot, so that a process that died cannot block
 * it.
 */
export interface RateLimitStore {
  /** Takes a slot if one is free and no user waits. */
  take(wanted: PermitRequest): Promise<RateLimitPermit | undefined>
  /**
   * Takes a slot if one is free and it is the user's turn. Otherwise registers the user as waiting, for the next two
   * periods.
   *
   * Frees the slots that are blocked for longer than `maxBlockMs`.
   */
  takeInTurn(wanted: PermitRequest): Promise<RateLimitPermit | RateLimitDelay>
  /**
   * Releases a slot: it is free from `at` on. Does nothing if the lease of the permit has ended and another call has
   * the slot.
   *
   * With `spreadMs`, the slot becomes free no earlier than `spreadMs` after every other slot. So slots that were taken
   * at once become free one by one.
   */
  release(permit: RateLimitPermit, at: number, spreadMs?: number): Promise<void>
  /** Blocks all slots of the action before `until`. From then on, one slot becomes free every `spreadMs`. */
  delayUntil(action: string, until: number, spreadMs: number): Promise<void>
}

/**
 * How long a free slot is reserved for the next user. Longer than that user's process needs to take it, and too short
 * to delay others much.
 */
export const reservationMs = 40

/** How long the time when a user was last served is kept. */
export const maxServedAgeMs = 60_000

export const isPermit = (taken: RateLimitPermit | RateLimitDelay): taken is RateLimitPermit => 'number' in taken
