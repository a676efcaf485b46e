/** HTTP requests of a time. */
export interface ActivityCounts {
  readonly requests: number
  /** Those with a status of 400 to 499. */
  readonly rejected: number
  /** Those with a status of 500 or above. */
  readonly errors: number
}

/** What the server has done lately, in all processes. Times are ISO 8601, in UTC. */
export interface ActivityView {
  readonly at: string
  /** The last complete minute. */
  readonly last_minute: ActivityCounts
  /** The last 24 hours, oldest first. The last one is the present one. */
  readonly hours: readonly (ActivityCounts & { readonly at: string })[]
  /** The last 7 days in UTC, oldest first. The last one is today. */
  readonly days: readonly (ActivityCounts & {
    readonly day: string
    /** Video tasks that have ended, by status. */
    readonly videos: Readonly<Record<string, number>>
  })[]
  /** Video tasks that run and wait now. */
  readonly videos: { readonly running: number; readonly waiting: number }
}

/** An alert rule whose condition holds. */
export interface AlertView {
  /** Name of the rule. */
  readonly name: string
  readonly severity: 'critical' | 'warning'
  /** `pending`: the condition holds, but not for as long as the rule asks. */
  readonly state: 'pending' | 'firing'
  /** Since when the condition holds. */
  readonly since: string
  /** What it is about. */
  readonly labels: Readonly<Record<string, string>>
  /** The value that is too high. */
  readonly value: number
}

/** The alerts of the server's rules. */
export interface AlertsView {
  readonly alerts: readonly AlertView[]
  /** Names of the rules that the server cannot evaluate itself. */
  readonly not_evaluated: readonly string[]
}
