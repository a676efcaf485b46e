/** A counter that a store raises together with whatever makes remembered answers wrong. */
export type ReadRevision = () => Promise<number>

/**
 * Says when remembered answers may be used. Nothing polls: the revision is read again, in the background, by the first use after
 * `refreshAfter`, and a use after `staleAfter` waits for it. So a revocation anywhere takes effect within `staleAfter`, and a
 * busy process asks the database twice a second rather than once a request.
 */
export class Freshness {
  #read: ReadRevision
  #now: () => number
  #refreshAfter: number
  #staleAfter: number
  #readAt = Number.NEGATIVE_INFINITY
  #pending: Promise<void> | undefined
  #forget = new Set<() => void>()
  /** The revision last seen; undefined before the first read. */
  seen: number | undefined

  /** @param options times in milliseconds; `staleAfter` 900 keeps the promise "within one second" (contract section 3). */
  constructor(read: ReadRevision, options: { refreshAfter?: number; staleAfter?: number; now?: () => number } = {}) {
    this.#read = read
    this.#refreshAfter = options.refreshAfter ?? 450
    this.#staleAfter = options.staleAfter ?? 900
    this.#now = options.now ?? (() => performance.now())
  }

  /** `forget` is called whenever the revision has changed. */
  onChange(forget: () => void): void {
    this.#forget.add(forget)
  }

  /** Undefined when remembered answers may be used at once; else a promise to wait for, rejected when the store cannot be asked. */
  check(): Promise<void> | undefined {
    const age = this.#now() - this.#readAt
    if (age < this.#refreshAfter) return undefined
    if (age >= this.#staleAfter) return this.#readSince(this.#now() - this.#staleAfter)
    this.#pending ??= this.#refresh()
    // A failure in the background shows itself to the first use that has to wait.
    this.#pending.catch(() => {})
    return undefined
  }

  /** Waits for a reading that was begun after `time`: one under way may have been begun long ago, by a store that is slow to answer. */
  async #readSince(time: number): Promise<void> {
    while (this.#readAt <= time) {
      this.#pending ??= this.#refresh()
      await this.#pending
    }
  }

  async #refresh(): Promise<void> {
    // Age counts from before the question: the answer is no younger than that.
    const askedAt = this.#now()
    try {
      const revision = await this.#read()
      if (revision !== this.seen) {
        this.seen = revision
        for (const forget of this.#forget) forget()
      }
      this.#readAt = askedAt
    } finally {
      this.#pending = undefined
    }
  }
}

/** A bounded memory of answers that hold as long as the revision does. The oldest answers go first. */
export class Remembered<Value> {
  #values = new Map<string, Value>()
  #freshness: Freshness
  #limit: number

  constructor(freshness: Freshness, limit = 100_000) {
    this.#freshness = freshness
    this.#limit = limit
    freshness.onChange(() => this.#values.clear())
  }

  /** The remembered answer, or what `ask` finds. Undefined is never remembered: what does not exist may begin to. */
  async get(key: string, ask: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const wait = this.#freshness.check()
    if (wait) await wait
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const asked = this.#freshness.seen
    const found = await ask()
    // An answer from before a change must not outlive the forgetting that the change caused.
    if (found !== undefined && asked === this.#freshness.seen) this.#set(key, found)
    return found
  }

  /** Adds what was learned on the way, for example from a list. */
  learn(key: string, value: Value): void {
    if (this.#freshness.seen !== undefined) this.#set(key, value)
  }

  forget(key: string): void {
    this.#values.delete(key)
  }

  #set(key: string, value: Value): void {
    if (this.#values.size >= this.#limit) {
      const oldest = this.#values.keys().next()
      if (!oldest.done) this.#values.delete(oldest.value)
    }
    this.#values.set(key, value)
  }
}
