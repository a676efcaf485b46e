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
