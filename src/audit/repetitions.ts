import type { Clock } from '../../plugins/shared/clock.ts'
import type { NewAuditEntry } from '../store/index.ts'

export interface RepetitionsOptions {
  readonly clock: Clock
  readonly put: (entry: NewAuditEntry) => void
  /** Entries that may be put of all sorts together, with what counts the rest: after a quiet time a thousand, and in every further minute of an attack that goes on so many. */
  readonly mostPerMinute: number
}

const windowMs = 60_000
/** Entries of one sort in a minute that are put as they are. */
const mostOfASort = 10
const mostAtAll = 1_000
/** Different sorts in a minute. What comes beyond, or when no more entries may be put, is counted by what happened alone. */
const mostSorts = 500

interface Sort {
  shown: number
  /** The first of those that are only counted, and how many they are. */
  more?: { readonly entry: NewAuditEntry; times: number }
}

/**
 * What one caller can bring about with every request: of each sort (the same doing of the same user, or of strangers from the same address) some entries a minute,
 * and one that counts the rest. So an attack fills neither the memory nor the database, and is not hidden either.
 */
export class Repetitions {
  readonly #options: RepetitionsOptions
  readonly #sorts = new Map<string, Sort>()
  /** Entries that may still be put. */
  #left = mostAtAll
  #begunAt = 0
  #callOff: (() => void) | undefined

  constructor(options: RepetitionsOptions) {
    this.#options = options
  }

  add(entry: NewAuditEntry): void {
    if (!this.#callOff) this.#begin()
    const { sort, known } = this.#sortOf(entry)
    if (known && sort.shown < mostOfASort && this.#left > 0) {
      sort.shown++
      this.#left--
      this.#options.put(entry)
    } else if (sort.more) {
      sort.more.times++
    } else {
      const { id, at, action } = entry
      sort.more = { entry: known ? withoutDetails(entry) : { id, at, action, times: 1 }, times: 1 }
    }
  }

  /** Puts what has been counted, and begins anew. */
  close(): void {
    this.#callOff?.()
    this.#callOff = undefined
    for (const { more } of this.#sorts.values()) {
      if (!more) continue
      this.#left--
      this.#options.put({ ...more.entry, times: more.times })
    }
    this.#sorts.clear()
  }

  #begin(): void {
    const { clock, mostPerMinute } = this.#options
    const now = clock.now()
    const windows = Math.max(0, Math.floor((now - this.#begunAt) / windowMs))
    this.#left = Math.min(mostAtAll, this.#left + windows * mostPerMinute)
    this.#begunAt = now
    this.#callOff = clock.at(now + windowMs, () => this.close())
  }

  #sortOf({ action, user, name, kind, address, status, reason }: NewAuditEntry): { sort: Sort; known: boolean } {
    const key = JSON.stringify([action, user, kind, status, reason, ...(user === undefined ? [name, address] : [])])
    const known = this.#sorts.has(key) || (this.#sorts.size < mostSorts && this.#left > 0)
    return { sort: this.#at(known ? key : action), known }
  }

  #at(key: string): Sort {
    const found = this.#sorts.get(key)
    if (found) return found
    const sort = { shown: 0 }
    this.#sorts.set(key, sort)
    return sort
  }
}

/** Of many entries of one user, who may have many tokens and addresses; or of a stranger, who has an address alone. */
const withoutDetails = (entry: NewAuditEntry): NewAuditEntry =>
  entry.user === undefined
    ? { ...entry, target: undefined }
    : { ...entry, target: undefined, token: undefined, address: undefined }
