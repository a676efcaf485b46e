import type { Awaitable } from '../shared/awaitable.ts'
import type { Disconnection } from '../shared/http/disconnection.ts'
import type { LimitUnit, LimitWindow } from './limit.ts'

/** Amounts by unit, integers from 0. `cost` is in billionths of the currency unit. */
export type Amounts = { readonly [Unit in LimitUnit]?: number }

/** A call that may have limits, before anything is done for it. */
export interface LimitedCall {
  /** Id of the user. */
  readonly user: string
  /** Id of the token with which the user calls. */
  readonly token?: string | undefined
  /**
   * The model, as the caller names it. Several names: limits of each of them apply, because callers can use all of them
   * for the same model. Undefined: limits of one model do not apply.
   */
  readonly model?: string | readonly string[] | undefined
  /**
   * What the call is expected to use: a good estimate, not the worst case. Units that are absent or 0 are not checked.
   * A function is called only if a limit applies to the user.
   */
  readonly uses: Amounts | (() => Amounts)
  /**
   * The least with which the call can begin, by unit. After the wait for others it gets what is left, if that is not
   * less. A function is called after that of `uses`, and only for a call that cannot begin at once. Default: `uses`.
   */
  readonly atLeast?: Amounts | (() => Amounts) | undefined
  /** The model has no price: Problem 403 with the code `model_without_price` if a limit of the unit `cost` applies. */
  readonly unpriced?: boolean | undefined
  /** Ends the wait: the call has no client any more. An AbortSignal is one. */
  readonly signal?: Disconnection | undefined
}

/**
 * What a call holds of each limit that applies to it. It has to end with `settle` or `release`: until then, others
 * cannot use what it holds.
 */
export interface UsageReservation {
  /** What it still holds, by unit. Less than `uses` if only `atLeast` was left. A unit without a limit is absent. */
  readonly reserved: Amounts
  /**
   * Takes more, for a stream that uses more than it holds: before it passes that on. All units or none; true at once,
   * or after a wait of at most 200 ms for others: the upstream does not wait. False: nothing is left, and the stream
   * has to end.
   *
   * @param atLeast what is enough if there is not all of `uses`, see `reserved` for what it got. Default: `uses`
   */
  extend(uses: Amounts, atLeast?: Amounts): Awaitable<boolean>
  /**
   * Books what was used of the named units, more or less than what was held, and gives the rest of these units back.
   * The other units stay reserved. What exists from now on, such as a group, is settled with what was held of it.
   *
   * Two calls for one unit add up. Without effect after `release`.
   */
  settle(used: Amounts): void
  /** Gives back what is still held. A call that has failed calls only this; may be called again. */
  release(): void
  /**
   * Moves what it holds to a holder that outlives this process, such as `task:ID`. Resolves when that is written; the
   * reservation is then empty. Unless `confirmHold` of the store makes it permanent, in the transaction that records
   * the task, it is given back after a minute. Rejects with Problem 500 or 503 when the database fails: then what was
   * held comes back by itself.
   */
  hold(holder: string): Promise<void>
  /**
   * `x-ratelimit-limit-requests`, `x-ratelimit-remaining-requests`, `x-ratelimit-reset-requests`, and the same three
   * with `-tokens`: of the limit of that unit with the least that remains. Empty without such limits.
   */
  headers(): Readonly<Record<string, string>>
}

/** Whom a limit is for. */
export interface LimitSubject {
  readonly type: 'account' | 'team' | 'user' | 'token'
  /** `account` for the account. */
  readonly id: string
  /** Name of the team or user, label of the token, or the id. */
  readonly name: string
}

/** A limit and its use, as `GET /api/limits` shows it. */
export interface LimitReport {
  readonly subject: LimitSubject
  readonly unit: LimitUnit
  readonly window: LimitWindow | null
  readonly model: string | null
  /** `amount`, `used`, `reserved` and `remaining` of the unit `cost` are in currency units. */
  readonly amount: number
  /** Settled use in the present window, or what exists. */
  readonly used: number
  /** What calls in progress hold, of all processes. */
  readonly reserved: number
  /** From 0. */
  readonly remaining: number
  /** ISO 8601 in UTC: the end of a calendar window, or when a sliding one is empty. Null: nothing resets. */
  readonly resets_at: string | null
}

/** The highest part of its amount that a limit has used, over all subjects of one type. */
export interface LimitUsedRatio {
  readonly subjectType: LimitSubject['type']
  readonly unit: LimitUnit
  readonly window: LimitWindow | undefined
  /** From 0; above 1 when a call has used more than it had reserved. */
  readonly ratio: number
}

/** The limits of one process, which share their counts with those of other processes. One for all plugins. */
export interface UsageLimits {
  /**
   * Reserves what a call may use, of all limits that apply to it or of none. Undefined: no limit applies.
   *
   * Synchronous when the limits are cached and this process holds enough of each; else it waits for the database, and
   * up to 2 seconds for what others hold. Throws or rejects with `LimitProblem` (429) when a limit has no room, with
   * Problem 403 for a model without a price, with Problem 500 or 503 when the database fails, and with the reason of
   * `signal`.
   */
  reserve(call: LimitedCall): Awaitable<UsageReservation | undefined>
  /** The limits that apply to a user, or to one of the user's tokens, with their use. Rejects as the store does. */
  report(of: { readonly user: string; readonly token?: string | undefined }): Promise<readonly LimitReport[]>
  /** For a gauge: of the limits that this process has used lately. */
  usedRatios(): readonly LimitUsedRatio[]
  /** Gives back what the process holds and does not use. Never rejects. */
  stop(): Promise<void>
}
