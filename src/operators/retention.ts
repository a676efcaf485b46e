import type { Background } from '../../plugins/shared/background/background.ts'
import type { LeaseStore } from '../../plugins/shared/background/lease-store.ts'
import type { Clock } from '../../plugins/shared/clock.ts'
import type { Log } from '../../plugins/shared/problem.ts'
import type { Store } from '../store/index.ts'
import { dayOf, type RetainedKind, retainedKinds } from '../store/overdue.ts'

/** What `removeOldUsage` needs. */
export interface UsageRetentionOptions {
  readonly store: Pick<Store, 'sweepUsage'> & LeaseStore
  /** How long the usage of a month is kept after its end. Milliseconds. */
  readonly keepMs: number
  readonly background: Background
  readonly clock: Clock
  readonly log: Log
}

const everyMs = 3_600_000
/** The start of a server has more urgent work. */
const firstMs = 60_000
/** Rows that one transaction removes: SQLite answers nothing else meanwhile. */
const maxRows = 100
/** Pause between two transactions, so that others write in between. */
const pauseMs = 20

/** Removes the usage of months that ended long ago, in one process at a time. */
export const removeOldUsage = ({ store, keepMs, background, clock, log }: UsageRetentionOptions): void => {
  background.repeat({
    ...{ everyMs, firstMs, log, failure: 'old usage could not be removed' },
    lease: { store, name: 'usage-retention', clock },
    async run(signal) {
      const before = dayOf(clock.now() - keepMs)
      while (!signal.aborted && (await store.sweepUsage(before, maxRows)) >= maxRows)
        await background.sleep(pauseMs, signal)
      return everyMs
    },
  })
}

/** How long each kind is kept, in milliseconds. Those that are left out stay for ever. */
export type Retention = Partial<Readonly<Record<RetainedKind, number>>>

/** What `watchOverdue` needs. */
export interface OverdueOptions {
  readonly store: Pick<Store, 'countOverdue'>
  readonly retention: Retention
  readonly background: Background
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

const countEveryMs = 600_000
/** Each kind is removed once an hour, or more often. What is older by that much should be gone. */
const slackMs = 2 * 3_600_000
/** Rows of a kind that are counted: an index has them, so it takes some milliseconds. */
const maxCounted = 10_000

/**
 * Counts what is older than it may be and has not been removed, again and again, and logs what remains. Returns a
 * function that returns the last counts.
 */
export const watchOverdue = ({ store, retention, background, clock, log }: OverdueOptions) => {
  let counts: Partial<Readonly<Record<RetainedKind, number>>> = {}
  background.repeat({
    ...{ everyMs: countEveryMs, firstMs, log, failure: 'what is to be removed could not be counted' },
    async run(signal) {
      const counted: Partial<Record<RetainedKind, number>> = {}
      for (const kind of retainedKinds) {
        const keepMs = retention[kind]
        if (signal.aborted) return countEveryMs
        if (keepMs !== undefined)
          counted[kind] = await store.countOverdue(kind, clock.now() - keepMs - slackMs, maxCounted)
      }
      counts = counted
      const remaining = Object.fromEntries(Object.entries(counted).filter(([, count]) => count > 0))
      if (Object.keys(remaining).length > 0)
        log.info({ remaining, atMost: maxCounted }, 'rows that are older than they are kept remain')
      return countEveryMs
    },
  })
  return () => counts
}
