/** How often an action may be called: at most `count` times in any `periodMs`, wherever that begins. */
export interface RateLimit {
  readonly action: string
  /** Places that there are: an integer from 1. */
  readonly count: number
  /** Milliseconds after an answer until the place of its call is free again. */
  readonly periodMs: number
}

/** Calls a second as places: 10 are 10 places of a second each, 2.5 are 2 of 800 ms, and 0.05 is 1 of 20 s. Throws RangeError unless above 0. */
export const rateLimitOf = (action: string, perSecond: number): RateLimit => {
  if (!(perSecond > 0) || !Number.isFinite(perSecond)) throw new RangeError(`limit of ${action} must be above 0`)
  const count = Math.max(1, Math.floor(perSecond))
  return { action, count, periodMs: Math.ceil((count / perSecond) * 1000) }
}

/** Whoever wants a place. All times are milliseconds since 1970. */
export interface PermitRequest extends RateLimit {
  /** Whose turn is used; empty for all who are nobody in particular. */
  readonly user: string
  readonly now: number
  /** When the place becomes free by itself: its call, even one of a process that died, has long ended by then. */
  readonly leaseUntil: number
}

/** A place that was taken. */
export interface RateLimitPermit {
  readonly action: string
  /** From 0. */
  readonly number: number
  readonly leaseUntil: number
}

/** Why there was no place. */
export interface RateLimitDelay {
  /** Asking again is of no use before. */
  readonly nextAt: number
  /** When the user was last given a place while others waited, by any process; 0 when that is long ago. */
  readonly servedAt: number
}

/**
 * Places for the calls of one upstream account, shared by every process that uses it. A place is taken before a call and becomes free a period after the
 * call's answer has come: two calls of one place arrive at least a period apart, whatever happens on the way, so no period sees more calls than there are
 * places.
 *
 * While calls wait, a free place is for the user who was served the longest ago, in whatever process that user waits. Everybody else leaves it alone for
 * `courtesyMs`; after that it is anybody's, so that nobody waits for a process that died.
 */
export interface RateLimitStore {
  /** A place, when one is free and nobody waits. */
  take(wanted: PermitRequest): Promise<RateLimitPermit | undefined>
  /** A place, when one is free and it is the user's turn. If not, others will heed that the user waits, for the next two periods. */
  takeInTurn(wanted: PermitRequest): Promise<RateLimitPermit | RateLimitDelay>
  /**
   * Gives a place back: it can be taken from `at` on. With `spreadMs` also no sooner than that after every other place: places that were taken all at once
   * become free one by one.
   */
  free(place: RateLimitPermit, at: number, spreadMs?: number): Promise<void>
  /** No place of the action is free before `until`; from then on, one after another every `spreadMs`. */
  slow(action: string, until: number, spreadMs: number): Promise<void>
}

/** Longer than a process needs to come for a place when it is free, shorter than anybody minds. */
export const courtesyMs = 40

/** How long it is remembered who was served when. */
export const turnMemoryMs = 60_000

export const isPermit = (taken: RateLimitPermit | RateLimitDelay): taken is RateLimitPermit => 'number' in taken
