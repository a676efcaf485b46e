import type { Clock } from '../../plugins/shared/clock.ts'
import type { NewAuditEntry } from '../store/index.ts'

/** Options of `Reads`. */
export interface ReadsOptions {
  readonly clock: Clock
  /** Takes the first entry of several. */
  readonly first: (entry: NewAuditEntry) => void
  /** Takes the entry that counts the others. */
  readonly rest: (entry: NewAuditEntry) => void
}

/** Reads of the same continue if no more time than this is between two of them. */
const pauseMs = 60_000
/** Reads that continue are counted in an entry this often. */
const longestMs = 3_600_000
/** Sorts that are distinguished at once. Further entries are passed on as they are. */
const maxSorts = 1_000

interface Series {
  /** The last entry. */
  entry: NewAuditEntry
  /** Entries since the last one that was written. */
  times: number
  countedAt: number
}

/**
 * Counts an admin's repeated reads of the same, which a console that refreshes itself sends all day: the first one is
 * an entry at once, and those that follow it are one entry, when no more come for a minute or after an hour.
 */
export class Reads {
  readonly #options: ReadsOptions
  readonly #series = new Map<string, Series>()
  #cancelTimer: (() => void) | undefined

  constructor(options: ReadsOptions) {
    this.#options = options
  }

  add(entry: NewAuditEntry): void {
    const { user, token, address, kind, target } = entry
    const key = JSON.stringify([user, token, address, kind, target])
    const known = this.#series.get(key)
    if (known && entry.at - known.entry.at <= pauseMs) {
      known.entry = entry
      known.times++
      if (entry.at - known.countedAt >= longestMs) this.#count(known)
      return
    }
    if (known) this.#count(known)
    this.#options.first(entry)
    if (known || this.#series.size < maxSorts) this.#series.set(key, { entry, times: 0, countedAt: entry.at })
    this.#cancelTimer ??= this.#wait()
  }

  /** Writes the counts. */
  close(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    for (const series of this.#series.values()) this.#count(series)
    this.#series.clear()
  }

  #count(series: Series): void {
    if (series.times > 0) this.#options.rest({ ...series.entry, times: series.times })
    series.times = 0
    series.countedAt = series.entry.at
  }

  #wait(): () => void {
    const { clock } = this.#options
    return clock.at(clock.now() + pauseMs, () => {
      const now = clock.now()
      for (const [key, series] of this.#series) {
        if (now - series.entry.at <= pauseMs) continue
        this.#count(series)
        this.#series.delete(key)
      }
      this.#cancelTimer = this.#series.size > 0 ? this.#wait() : undefined
    })
  }
}
