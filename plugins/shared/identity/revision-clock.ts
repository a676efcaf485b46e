import type { Clock } from '../clock.ts'

/** A change in the store: cached values of this kind and key are invalid. */
export interface RevisionChange {
  /** For example `token` or `group`. */
  readonly kind: string
  readonly key: string
}

/** A revision of the store, and the changes since an earlier one. */
export interface Revision {
  readonly value: number
  /** Undefined if the store does not know the changes: then all cached values are invalid. */
  readonly changes?: readonly RevisionChange[]
}

/**
 * Reads the store's revision: a counter that the store increments in the same transaction as each change that makes
 * cached values invalid.
 *
 * @param since the last revision that this process has read. A store may report the changes since then; if it returns
 * only the number, each change invalidates all cached values.
 */
export type ReadRevision = (since?: number) => Promise<number | Revision>

/**
 * Decides whether cached values are fresh, by the age of the last revision check.
 *
 * No timer polls. The first use after `refreshAfterMs` starts a revision check in the background, and a use after
 * `staleAfterMs` waits for one. So a revocation by any process takes effect within `staleAfterMs`, and a busy process
 * queries the database about twice per second, not once per request.
 */
export class RevisionClock {
  #read: ReadRevision
  readonly clock: Pick<Clock, 'now'>
  #refreshAfterMs: number
  #staleAfterMs: number
  #readAt = Number.NEGATIVE_INFINITY
  #pending: Promise<void> | undefined
  #listeners = new Set<(changes: readonly RevisionChange[] | undefined) => void>()
  /** Number of calls of `raised`, in total and at the start of the last revision check. */
  #raised = 0
  #readRaised = 0
  /** The revision of the last check; undefined before the first check. */
  seen: number | undefined

  /**
   * @param options `refreshAfterMs` 450 and `staleAfterMs` 900 by default, so that a revocation takes effect within one
   * second. `clock` measures ages, by default with `performance.now()`: after a step of the system clock, old values
   * would count as fresh.
   */
  constructor(
    read: ReadRevision,
    options: { refreshAfterMs?: number; staleAfterMs?: number; clock?: Pick<Clock, 'now'> } = {},
  ) {
    this.#read = read
    this.#refreshAfterMs = options.refreshAfterMs ?? 450
    this.#staleAfterMs = options.staleAfterMs ?? 900
    this.clock = options.clock ?? monotonicClock
  }

  /** Adds a listener for changes of the revision. It receives the changes, or undefined if they are unknown. */
  onChange(listener: (changes: readonly RevisionChange[] | undefined) => void): void {
    this.#listeners.add(listener)
  }

  /**
   * This process has incremented the revision itself: the next use waits for a revision check that starts after this
   * call.
   */
  notifyRaised(): void {
    this.#raised++
  }

  /**
   * Returns undefined if cached values are fresh; else a promise of a revision check, which rejects if the store is
   * unavailable.
   */
  check(): Promise<void> | undefined {
    const age = this.clock.now() - this.#readAt
    if (this.#readRaised !== this.#raised || age >= this.#staleAfterMs) {
      return this.#readSince(this.clock.now() - this.#staleAfterMs, this.#raised)
    }
    if (age < this.#refreshAfterMs) return undefined
    this.#pending ??= this.#refresh()
    // An error of a background check reaches the first use that must wait.
    this.#pending.catch(() => {})
    return undefined
  }

  /**
   * Waits for a revision check that started after `time` and after this number of `raised` calls. A pending check of a
   * slow store may be too old.
   */
  async #readSince(time: number, raised: number): Promise<void> {
    while (this.#readAt <= time || this.#readRaised < raised) {
      this.#pending ??= this.#refresh()
      await this.#pending
    }
  }

  async #refresh(): Promise<void> {
    // The age counts from before the query, because the result may be as old as that.
    const startedAt = this.clock.now()
    const raised = this.#raised
    try {
      const read = await this.#read(this.seen)
      const { value, changes } = typeof read === 'number' ? { value: read } : read
      if (value !== this.seen) {
        this.seen = value
        for (const listener of this.#listeners) listener(changes)
      }
      this.#readAt = startedAt
      this.#readRaised = raised
    } finally {
      this.#pending = undefined
    }
  }
}

const monotonicClock: Pick<Clock, 'now'> = { now: () => performance.now() }
