import type { Awaitable } from './awaitable.ts'
import { NegativeCache } from './negative-cache.ts'
import { copyText } from './text.ts'

/** What a store has taken away or changed: whatever was remembered of that kind under that key is wrong. */
export interface RevisionChange {
  /** For example `token` or `group`. */
  readonly kind: string
  readonly key: string
}

/** A revision, and what has changed since an earlier one. */
export interface Revision {
  readonly value: number
  /** Undefined when the store cannot say: then everything that is remembered is forgotten. */
  readonly changes?: readonly RevisionChange[]
}

/**
 * Reads a counter that a store raises together with whatever makes remembered answers wrong. Given the revision last seen, a store may also say what has
 * changed since; one that answers the plain number is right too, and everything is asked for again after every change.
 */
export type ReadRevision = (since?: number) => Promise<number | Revision>

/**
 * Says when remembered answers may be used. Nothing polls: the revision is read again, in the background, by the first use after
 * `refreshAfter`, and a use after `staleAfter` waits for it. So a revocation anywhere takes effect within `staleAfter`, and a
 * busy process asks the database twice a second rather than once a request.
 */
export class RevisionClock {
  #read: ReadRevision
  /** Milliseconds, of which only differences mean anything. */
  readonly now: () => number
  #refreshAfter: number
  #staleAfter: number
  #readAt = Number.NEGATIVE_INFINITY
  #pending: Promise<void> | undefined
  #forget = new Set<(changes: readonly RevisionChange[] | undefined) => void>()
  /** How often the revision was raised here, and how often when the last reading was begun. */
  #raised = 0
  #readRaised = 0
  /** The revision last seen; undefined before the first read. */
  seen: number | undefined

  /** @param options times in milliseconds; `staleAfter` 900: a revocation takes effect within one second */
  constructor(read: ReadRevision, options: { refreshAfter?: number; staleAfter?: number; now?: () => number } = {}) {
    this.#read = read
    this.#refreshAfter = options.refreshAfter ?? 450
    this.#staleAfter = options.staleAfter ?? 900
    this.now = options.now ?? (() => performance.now())
  }

  /** `forget` is called whenever the revision has changed: with what changed, or without when anything may have. */
  onChange(forget: (changes: readonly RevisionChange[] | undefined) => void): void {
    this.#forget.add(forget)
  }

  /** This process has raised the revision itself: whoever asks next waits for a reading that was begun after it. */
  raised(): void {
    this.#raised++
  }

  /** Undefined when remembered answers may be used at once; else a promise to wait for, rejected when the store cannot be asked. */
  check(): Promise<void> | undefined {
    const age = this.now() - this.#readAt
    if (this.#readRaised !== this.#raised || age >= this.#staleAfter) {
      return this.#readSince(this.now() - this.#staleAfter, this.#raised)
    }
    if (age < this.#refreshAfter) return undefined
    this.#pending ??= this.#refresh()
    // A failure in the background shows itself to the first use that has to wait.
    this.#pending.catch(() => {})
    return undefined
  }

  /** Waits for a reading that was begun after `time` and so many raises: one under way may have been begun long ago, by a store that is slow to answer. */
  async #readSince(time: number, raised: number): Promise<void> {
    while (this.#readAt <= time || this.#readRaised < raised) {
      this.#pending ??= this.#refresh()
      await this.#pending
    }
  }

  async #refresh(): Promise<void> {
    // Age counts from before the question: the answer is no younger than that.
    const askedAt = this.now()
    const raised = this.#raised
    try {
      const read = await this.#read(this.seen)
      const { value, changes } = typeof read === 'number' ? { value: read } : read
      if (value !== this.seen) {
        this.seen = value
        for (const forget of this.#forget) forget(changes)
      }
      this.#readAt = askedAt
      this.#readRaised = raised
    } finally {
      this.#pending = undefined
    }
  }
}

export interface RevisionCacheOptions<Value> {
  /** The kind of changes that these answers are subject to. Default: any change empties the memory. */
  readonly kind?: string
  /** The key by which a change names an answer. Default the one it is remembered under. */
  readonly namedBy?: (value: Value) => string
  /** Answers that are kept, or their sizes together. Default 100,000. */
  readonly limit?: number
  /**
   * Milliseconds for which it is remembered that there is no answer, and up to twice as long; of 20,000 keys at most, beside the answers: however many are made up,
   * they drive none out. Default: it is not remembered, what does not exist may begin to.
   */
  readonly absentMs?: number
  /** What an answer counts for, at least 1; one that counts for more than the limit is not kept. Default 1. */
  readonly sizeOf?: (value: Value) => number
}

/** A bounded memory of answers that hold until the store says otherwise. The oldest answers go first. Answers must not change. */
export class RevisionCache<Value> {
  #values = new Map<string, Value>()
  #absent: NegativeCache | undefined
  #revisionClock: RevisionClock
  #limit: number
  #sizeOf: (value: Value) => number
  #size = 0

  constructor(revisionClock: RevisionClock, options: RevisionCacheOptions<Value> = {}) {
    const { kind, namedBy, limit = 100_000, sizeOf = () => 1, absentMs } = options
    this.#revisionClock = revisionClock
    this.#limit = limit
    this.#sizeOf = sizeOf
    this.#absent = absentMs === undefined ? undefined : new NegativeCache(absentMs, maxAbsent)
    revisionClock.onChange((changes) => {
      if (!changes || kind === undefined) {
        this.#absent?.clear()
        this.#size = 0
        return this.#values.clear()
      }
      const keys = new Set<string>()
      for (const change of changes) if (change.kind === kind) keys.add(change.key)
      for (const key of keys) this.#absent?.delete(key)
      if (!namedBy) for (const key of keys) this.forget(key)
      else if (keys.size > 0) {
        for (const [key, value] of this.#values) if (keys.has(namedBy(value))) this.forget(key)
      }
    })
  }

  /**
   * The remembered answer, at once, or a promise of what `ask` finds. That there is none is not remembered, but for `absentMs`. An answer that does not fit whoever
   * asks is neither used nor remembered, as if it were not there: what others have asked for shows itself to nobody, by the time it takes either.
   */
  get(
    key: string,
    ask: () => Promise<Value | undefined>,
    fits: (value: Value) => boolean = anyFits,
  ): Awaitable<Value | undefined> {
    const wait = this.#revisionClock.check()
    return wait ? wait.then(() => this.#recall(key, ask, fits)) : this.#recall(key, ask, fits)
  }

  #recall(...[key, ask, fits]: Question<Value>): Awaitable<Value | undefined> {
    const known = this.#values.get(key)
    if (known !== undefined && fits(known)) return known
    if (this.#absent?.has(key, this.#revisionClock.now())) return undefined
    return this.#find(key, ask, fits)
  }

  async #find(...[key, ask, fits]: Question<Value>): Promise<Value | undefined> {
    const asked = this.#revisionClock.seen
    const found = await ask()
    // An answer from before a change must not outlive the forgetting that the change caused.
    if (asked !== this.#revisionClock.seen) return found
    if (found === undefined) this.#absent?.add(key, this.#revisionClock.now())
    else if (fits(found)) this.#set(key, found)
    return found
  }

  /** Adds what was learned on the way, for example from a list. */
  learn(key: string, value: Value): void {
    if (this.#revisionClock.seen !== undefined) this.#set(key, value)
  }

  /** @param holds what is remembered stays where this says so */
  forget(key: string, holds: (value: Value) => boolean = neverHolds): void {
    const value = this.#values.get(key)
    if (value !== undefined && holds(value)) return
    this.#absent?.delete(key)
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
    this.#absent?.delete(key)
    if (size > this.#limit) this.#delete(key)
    if (this.#size > this.#limit) this.#dropOldest(this.#limit - Math.max(0, Math.ceil(this.#limit / 1_000) - size))
  }

  /** Several at once: the way to the first one leads past all that were deleted before it, up to 40 microseconds of a large map. */
  #dropOldest(until: number): void {
    for (const key of this.#values.keys()) {
      if (this.#size <= until) return
      this.#delete(key)
    }
  }
}

type Question<Value> = [key: string, ask: () => Promise<Value | undefined>, fits: (value: Value) => boolean]

/** Twice as many are kept, at about 150 bytes each. */
const maxAbsent = 10_000

const neverHolds = () => false

const anyFits = () => true
