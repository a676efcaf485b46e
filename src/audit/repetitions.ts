import type { Clock } from '../../plugins/shared/clock.ts'
import type { NewAuditEntry } from '../store/index.ts'

/** Options of `Repetitions`. */
export interface RepetitionsOptions {
  readonly clock: Clock
  readonly write: (entry: NewAuditEntry) => void
  /**
   * How many entries of all sorts together may be written in each further minute of a long attack. After a quiet time,
   * a thousand may be written at once.
   */
  readonly maxPerMinute: number
}

const windowMs = 60_000
/** Entries of one sort that are written each minute. Further ones are only counted. */
const maxOfASort = 10
const maxBudget = 1_000
/**
 * Number of sorts that are distinguished each minute. Beyond it, or without budget, entries are counted by their action
 * only.
 */
const maxSorts = 500

interface Sort {
  written: number
  /** The entries that are only counted: the first one, and their number. */
  rest?: { readonly entry: NewAuditEntry; times: number }
}

/**
 * Limits entries that a caller can cause with every request.
 *
 * A sort is one action of one user, or of one address without a user. Of each sort, some entries a minute are written,
 * and one more that counts the rest. So an attack fills neither the memory nor the database, and stays visible.
 */
export class Repetitions {
  readonly #options: RepetitionsOptions
  readonly #sorts = new Map<string, Sort>()
  /** Number of entries that may still be written. */
  #budget = maxBudget
  #windowStartedAt = 0
  #cancelTimer: (() => void) | undefined

  constructor(options: RepetitionsOptions) {
    this.#options = options
  }

  add(entry: NewAuditEntry): void {
    if (!this.#cancelTimer) this.#startWindow()
    const { sort, hasOwnSort } = this.#sortOf(entry)
    if (hasOwnSort && sort.written < maxOfASort && this.#budget > 0) {
      sort.written++
      this.#budget--
      this.#options.write(entry)
    } else if (sort.rest) {
      sort.rest.times++
    } else {
      const { id, at, action } = entry
      sort.rest = { entry: hasOwnSort ? withoutDetails(entry) : { id, at, action, times: 1 }, times: 1 }
    }
  }

  /**
   * Counts an entry of a user of whose sort no more are written. False: the entry itself is needed, for `add`. Of a
   * flood, most events cost no more than this.
   */
  repeat(sort: SortOfUser): boolean {
    // Without a user, the sort is that of the name and the address, too.
    const rest = sort.user === undefined ? undefined : this.#sorts.get(keyOf(sort))?.rest
    if (rest) rest.times++
    return rest !== undefined
  }

  /** Writes the counts, and ends the window. */
  close(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    for (const { rest } of this.#sorts.values()) {
      if (!rest) continue
      this.#budget--
      this.#options.write({ ...rest.entry, times: rest.times })
    }
    this.#sorts.clear()
  }

  #startWindow(): void {
    const { clock, maxPerMinute } = this.#options
    const now = clock.now()
    const windows = Math.max(0, Math.floor((now - this.#windowStartedAt) / windowMs))
    this.#budget = Math.min(maxBudget, this.#budget + windows * maxPerMinute)
    this.#windowStartedAt = now
    this.#cancelTimer = clock.at(now + windowMs, () => this.close())
  }

  #sortOf(entry: NewAuditEntry): { sort: Sort; hasOwnSort: boolean } {
    const { action, user, name, address } = entry
    const key = user === undefined ? keyOf(entry, name, address) : keyOf(entry)
    const hasOwnSort = this.#sorts.has(key) || (this.#sorts.size < maxSorts && this.#budget > 0)
    return { sort: this.#at(hasOwnSort ? key : action), hasOwnSort }
  }

  #at(key: string): Sort {
    const existing = this.#sorts.get(key)
    if (existing) return existing
    const sort = { written: 0 }
    this.#sorts.set(key, sort)
    return sort
  }
}

/** What tells the entries of one sort of users apart from others. */
export type SortOfUser = Pick<NewAuditEntry, 'action' | 'user' | 'kind' | 'status' | 'reason'>

const keyOf = ({ action, user, kind, status, reason }: SortOfUser, ...more: readonly unknown[]): string =>
  JSON.stringify([action, user, kind, status, reason, ...more])

/** Removes what differs between the entries of one sort: a user may have many tokens and addresses. */
const withoutDetails = (entry: NewAuditEntry): NewAuditEntry =>
  entry.user === undefined
    ? { ...entry, target: undefined }
    : { ...entry, target: undefined, token: undefined, address: undefined }
