import type { Limit, LimitUnit } from './limit.ts'
import type { LimitSubject } from './usage-limits.ts'

/**
 * The store port of `usageLimits`: what processes hold and have used of each limit. Every method rejects when the store
 * does not respond within its own deadline. Times are milliseconds since 1970; amounts are integers.
 *
 * A *counter* is one limit of one subject. A *holder* is a process, or something that outlives one, such as a video
 * task. A *block* is the part of a counter's amount that a holder has, so that nobody else can use it.
 */
export interface LimitStore {
  /**
   * Applies an exchange in one transaction, and returns what became of each change, in their order. Undefined: the
   * holder is unknown, or its lease has ended, or its blocks are not those that it thinks it has; nothing was changed.
   * Then what it had held is settled by `sweepLimits`.
   *
   * Safe to repeat after an unknown outcome: the same `seq` is applied once.
   */
  exchange(exchange: LimitExchange): Promise<readonly LimitCounts[] | undefined>
  /** The present use of counters, in their order. */
  limitUse(counters: readonly LimitCounter[], now: number): Promise<readonly LimitUse[]>
  /**
   * Settles the blocks of holders whose lease has ended: what they held counts as used, if their unit is used up. What
   * tasks held that were never confirmed is given back. Deletes the counts of past windows.
   */
  sweepLimits(now: number): Promise<void>
  /** Whose limits apply to a user. Undefined: the store does not know the user. */
  limitSubjects(user: string, token: string | undefined): Promise<LimitSubjects | undefined>
}

/** A subject with its own list. */
export interface SubjectLimits {
  readonly id: string
  readonly name: string
  readonly limits: readonly Limit[]
}

/** The subjects of one user, but for the account. */
export interface LimitSubjects {
  /** Without `limits`, those of every user without a list apply. */
  readonly user: Pick<SubjectLimits, 'id' | 'name'> & { readonly limits?: readonly Limit[] }
  readonly team?: SubjectLimits
  readonly token?: SubjectLimits
}

/** A limit of a subject, in its present window. */
export interface LimitCounter {
  /** Unique, at most 300 characters. */
  readonly id: string
  readonly unit: LimitUnit
  /** Whose it is. `user`: of a token, its user. */
  readonly subject: Pick<LimitSubject, 'type' | 'id'> & { readonly user?: string }
  /** Start of the window of the calendar. 0: the window slides, or there is none. */
  readonly bucket: number
  /** End of the window of the calendar. */
  readonly endsAt?: number
  /** A window that slides. */
  readonly slides?: SlidingWindow
}

/**
 * A window that slides in steps. Use counts until its step has left the window entirely, so that no window of this
 * length ever has more than the amount.
 */
export interface SlidingWindow {
  readonly lengthMs: number
  /** A whole number of them is the length. */
  readonly stepMs: number
}

/** Start of the first step whose use counts at a time. */
export const firstStep = ({ lengthMs, stepMs }: SlidingWindow, now: number): number => stepOf(stepMs, now - lengthMs)

/** Start of the step that contains a time. */
export const stepOf = (stepMs: number, time: number): number => Math.floor(time / stepMs) * stepMs

/** What a holder settles, gives back and asks for. */
export interface LimitExchange {
  readonly holder: string
  /** 1 for the first exchange of a holder, which also makes the holder known; then one more each time. */
  readonly seq: number
  readonly now: number
  /** The new end of the holder's lease. */
  readonly leaseUntil: number
  readonly changes: readonly LimitChange[]
}

/** The part of an exchange for one counter and window. */
export interface LimitChange {
  readonly counter: LimitCounter
  /** The amount of the limit. */
  readonly amount: number
  /** The holder's block, as the last exchange has left it. */
  readonly held: number
  /** To book as used. For a unit that exists this is only given back: the store counts what exists. */
  readonly used: number
  /** What the block keeps; the rest of it is given back. */
  readonly keeps: number
  /** What is asked for in addition. All of it, or what is left if that is `atLeast`; else nothing. */
  readonly needs: number
  readonly atLeast: number
  /** What the block may get beyond `needs`: at most a hundredth of what is left. */
  readonly spare: number
  /** Parts that move to other holders, beside `keeps`. */
  readonly moves: readonly HeldMove[]
}

/** A part of a block that moves to a holder that outlives the process. */
export interface HeldMove {
  /** Such as `task:ID`. */
  readonly holder: string
  readonly amount: number
  /** When it is given back, unless the holder was confirmed. */
  readonly leaseUntil: number
}

/** A counter after an exchange. */
export interface LimitCounts {
  /** The holder's block. */
  readonly held: number
  /** Use that counts, or what exists. */
  readonly used: number
  /** The blocks of all holders. */
  readonly allHeld: number
  /** Of a window that slides, if `needs` was not granted: when as much as was asked for will have left the window. */
  readonly freeAt?: number
}

/** The use of a counter. */
export interface LimitUse {
  readonly used: number
  readonly allHeld: number
  /** Of a window that slides: the start of the last step with use. */
  readonly lastStep?: number
}

/** What moves to other holders. It stays taken: the exchange that moves it must not grant it again. */
export const movedOf = ({ moves }: Pick<LimitChange, 'moves'>): number =>
  moves.reduce((sum, { amount }) => sum + amount, 0)

/**
 * What an exchange adds to the block of its holder. Every store must decide by it.
 *
 * @param rest what is left before anything moves: the amount without use, without the blocks of others, and without
 * what the block keeps
 */
export const grantOf = (change: LimitChange, rest: number): number => {
  const { needs, atLeast, spare } = change
  const left = rest - movedOf(change)
  if (needs > 0 && left < atLeast) return 0
  const granted = Math.max(0, Math.min(needs, left))
  return granted + Math.max(0, Math.min(spare, Math.floor((left - granted) / 100)))
}
