/** Keys that nothing was found for, a moment ago. Bounded in number and in time, without a timer: two sets, of which the older one goes when the newer one is full or its time is over. */
export class NegativeCache {
  #recent = new Set<string>()
  #older = new Set<string>()
  #until = Number.NEGATIVE_INFINITY
  readonly #ms: number
  readonly #limit: number

  /**
   * @param ms how long a key is kept at least, where there are not too many, and half of how long at most
   * @param limit keys of either set
   */
  constructor(ms: number, limit: number) {
    this.#ms = ms
    this.#limit = limit
  }

  has(key: string, now: number): boolean {
    this.#age(now)
    return this.#recent.has(key) || this.#older.has(key)
  }

  add(key: string, now: number): void {
    this.#age(now)
    if (this.#recent.size >= this.#limit) this.#turn()
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

  #age(now: number): void {
    if (now < this.#until) return
    this.#turn()
    // One window ends where the next begins, so that no key outlives two of them; after a longer pause all are gone.
    this.#until += this.#ms
    if (now < this.#until) return
    this.#turn()
    this.#until = now + this.#ms
  }

  #turn(): void {
    this.#older = this.#recent
    this.#recent = new Set()
  }
}
