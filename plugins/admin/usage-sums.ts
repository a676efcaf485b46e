import type { UsageCounts } from '../shared/usage-counts.ts'

/** What usage is summed by. */
export const usageDimensions = ['day', 'user', 'team', 'token', 'model'] as const

/** A property of usage by which it is summed. */
export type UsageDimension = (typeof usageDimensions)[number]

/** Which usage to sum. Undefined members do not filter. */
export interface UsageSumFilter {
  /** The first day, in UTC, `YYYY-MM-DD`. */
  readonly since?: string | undefined
  /** The last day, inclusive. */
  readonly until?: string | undefined
  /** Id of a user. */
  readonly user?: string | undefined
  /** Id of the team that the user was in. */
  readonly team?: string | undefined
  /** Id of a token. */
  readonly token?: string | undefined
  readonly model?: string | undefined
  /** Text generation, or videos. */
  readonly kind?: 'text' | 'video' | undefined
}

/**
 * The values that usage was summed for. A member is undefined if the sum is not by it, and for usage without a team or
 * token.
 */
export type UsageSumKey = { readonly [Dimension in UsageDimension]?: string }

/** The usage of one combination of values. */
export interface UsageTotal extends UsageSumKey, UsageCounts {
  /** Names of the user, the team and the token (its label), also of deleted ones. Undefined: they have none. */
  readonly userName?: string
  readonly teamName?: string
  readonly tokenName?: string
  /** First characters of the token. */
  readonly tokenStart?: string
}

/** A page of sums. */
export interface UsageSumRequest {
  readonly filter: UsageSumFilter
  /** A token belongs to a user, so sums by token are also by user. Empty: one sum of everything. */
  readonly by: readonly UsageDimension[]
  readonly limit: number
  /** The `next` of the page before, with the same filter and `by`. Undefined: the first page. */
  readonly after?: UsageSumKey | undefined
}

/** The store port of usage reports. */
export interface UsageSumStore {
  /**
   * Sums usage, in the order day, user, token, model, team as far as it is summed by them. `next` undefined: it is the
   * last page.
   *
   * A page must cost about the same with 1,000,000 rows as with ten, and long work must leave other calls of the store
   * time in between.
   */
  sumUsage(request: UsageSumRequest): Promise<{ readonly rows: readonly UsageTotal[]; readonly next?: UsageSumKey }>
}
