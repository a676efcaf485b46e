import type { Awaitable } from '../awaitable.ts'
import type { Clock } from '../clock.ts'
import { copyText } from '../text.ts'

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

/** Options of `RevisionCache`. */
export interface RevisionCacheOptions<Value> {
  /** The kind of changes that invalidate values of this cache. Default: each change clears the cache. */
  readonly kind?: string
  /** Kinds of changes that clear the cache. Default: with `kind` none, else all. */
  readonly clearedBy?: readonly string[]
  /** Returns the key that a change uses for a value. Default: the cache key. */
  readonly namedBy?: (value: Value) => string
  /** Maximum number of values, or maximum total of their sizes. Default 100,000. */
  readonly maxSize?: number
  /**
   * Minimum lifetime in milliseconds of negative entries, for keys without a value; the maximum is twice as long.
   * Default: no negative caching.
   *
   * At most 20,000 negative entries are cached, separately from the values, so that invented keys evict no value.
   */
  readonly negativeTtlMs?: number
  /** Size of a value, at least 1. A value above `maxSize` is not cached. Default 1. */
  readonly sizeOf?: (value: Value) => number
}

/**
 * A bounded cache of store values, which are valid until the store reports a change. The oldest are evicted first.
 * Values must be immutable.
 */
export class RevisionCache<Value> {
  #values = new Map<string, Value>()
  #negative: NegativeCache | undefined
  #revisionClock: RevisionClock
  #maxSize: number
  #sizeOf: (value: Value) => number
  #size = 0

  constructor(revisionClock: RevisionClock, options: RevisionCacheOptions<Value> = {}) {
    const { kind, clearedBy, namedBy, maxSize = 100_000, sizeOf = () => 1, negativeTtlMs } = options
    this.#revisionClock = revisionClock
    this.#maxSize = maxSize
    this.#sizeOf = sizeOf
    this.#negative = negativeTtlMs === undefined ? undefined : new NegativeCache(negativeTtlMs, maxNegative)
    revisionClock.onChange((changes) => {
      const clears = clearedBy ? changes?.some((change) => clearedBy.includes(change.kind)) : kind === undefined
      if (!changes || clears) {
        this.#negative?.clear()
        this.#size = 0
        return this.#values.clear()
      }
      const keys = new Set<string>()
      for (const change of changes) if (change.kind === kind) keys.add(change.key)
      for (const key of keys) this.#negative?.delete(key)
      if (!namedBy) for (const key of keys) this.delete(key)
      else if (keys.size > 0) {
        for (const [key, value] of this.#values) if (keys.has(namedBy(value))) this.delete(key)
      }
    })
  }

  /**
   * Returns the cached value synchronously, or a promise of the result of `load`. A missing value is cached only with
   * `negativeTtlMs`.
   *
   * @param fits whether this caller may see the value. If not, the cached value is not used, and the loaded value is
   * not cached. So the response time does not reveal what other callers have loaded.
   */
  get(
    key: string,
    load: () => Promise<Value | undefined>,
    fits: (value: Value) => boolean = anyFits,
  ): Awaitable<Value | undefined> {
    const wait = this.#revisionClock.check()
    return wait ? wait.then(() => this.#getCached(key, load, fits)) : this.#getCached(key, load, fits)
  }

  #getCached(...[key, load, fits]: GetParameters<Value>): Awaitable<Value | undefined> {
    const known = this.#values.get(key)
    if (known !== undefined && fits(known)) return known
    if (this.#negative?.has(key, this.#revisionClock.clock.now())) return undefined
    return this.#load(key, load, fits)
  }

  async #load(...[key, load, fits]: GetParameters<Value>): Promise<Value | undefined> {
    const revision = this.#revisionClock.seen
    const found = await load()
    // A value that was loaded before a change must not be cached after the invalidation by this change.
    if (revision !== this.#revisionClock.seen) return found
    if (found === undefined) this.#negative?.add(key, this.#revisionClock.clock.now())
    else if (fits(found)) this.#set(key, found)
    return found
  }

  /** Adds a value that another query has returned, for example a list. */
  set(key: string, value: Value): void {
    if (this.#revisionClock.seen !== undefined) this.#set(key, value)
  }

  /** Removes an entry. @param holds a cached value for which it returns true remains */
  delete(key: string, holds: (value: Value) => boolean = neverHolds): void {
    const value = this.#values.get(key)
    if (value !== undefined && holds(value)) return
    this.#negative?.delete(key)
    this.#delete(key)
  }

  #delete(key: string): void {
    const value = this.#values.get(key)
    if (value === undefined) return
    this.#values.delete(key)
    this.#size -= this.#sizeOf(value)
  }

  #set(key: string, value: Value): void {
    const before = this.#values.get(key)
    if (before === value) return
    const size = this.#sizeOf(value)
    this.#size += size - (before === undefined ? 0 : this.#sizeOf(before))
    this.#values.set(before === undefined ? copyText(key) : key, value)
    this.#negative?.delete(key)
    if (size > this.#maxSize) this.#delete(key)
    if (this.#size > this.#maxSize)
      this.#evictOldest(this.#maxSize - Math.max(0, Math.ceil(this.#maxSize / 1_000) - size))
  }

  /**
   * Evicts several entries at once: the iterator skips all entries deleted before, which takes up to 40 microseconds in
   * a large map.
   */
  #evictOldest(maxSize: number): void {
    for (const key of this.#values.keys()) {
      if (this.#size <= maxSize) return
      this.#delete(key)
    }
  }
}

type GetParameters<Value> = [key: string, load: () => Promise<Value | undefined>, fits: (value: Value) => boolean]

/** Negative entries per set of the `NegativeCache`, which has two. Each takes about 150 bytes. */
const maxNegative = 10_000

const neverHolds = () => false

const anyFits = () => true

/**
 * Keys that were looked up without a result a moment ago.
 *
 * It consists of two sets. It drops the older one when the newer one is full or has reached its lifetime, so that it
 * needs no timer.
 */
export class NegativeCache {
  #recent = new Set<string>()
  #older = new Set<string>()
  #windowEnd = Number.NEGATIVE_INFINITY
  readonly #ms: number
  readonly #maxKeys: number

  /**
   * @param ms minimum lifetime of a key in milliseconds, if no set is full. The maximum is twice as long.
   * @param maxKeys maximum number of keys in each of the two sets
   */
  constructor(ms: number, maxKeys: number) {
    this.#ms = ms
    this.#maxKeys = maxKeys
  }

  has(key: string, now: number): boolean {
    this.#expire(now)
    return this.#recent.has(key) || this.#older.has(key)
  }

  add(key: string, now: number): void {
    this.#expire(now)
    if (this.#recent.size >= this.#maxKeys) this.#rotate()
    this.#recent.add(key)
  }

  delete(key: string): void {
    this.#recent.delete(key)
    this.#older.delete(key)
  }

  clear(): void {
    this.#recent.clear()
    this.#older.clear()
  }

  #expire(now: number): void {
    if (now < this.#windowEnd) return
    this.#rotate()
    // Windows follow each other without a gap, so that no key outlives two of them. After a longer pause both sets are
    // dropped.
    this.#windowEnd += this.#ms
    if (now < this.#windowEnd) return
    this.#rotate()
    this.#windowEnd = now + this.#ms
  }

  #rotate(): void {
    this.#older = this.#recent
    this.#recent = new Set()
  }
}
