import type { Awaitable } from '../awaitable.ts'
import { copyText } from '../text.ts'
import { NegativeCache } from './negative-cache.ts'
import type { RevisionClock } from './revision-clock.ts'

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
