/** A call that waits, and whose. */
export interface QueuedCall {
  readonly user: string
  /** It may be gone before its turn comes, because another is made for both: others need not reckon with it. */
  readonly light?: boolean
}

interface Line<Call> {
  /** When the user was last served; 0 when that is long ago. */
  servedAt: number
  readonly calls: Call[]
  /** How many of them others have to reckon with. */
  heavy: number
}

/**
 * Calls that wait for the same thing, in fair order: the user who was served the longest ago comes first, and the calls of one user in the order in which
 * they came. So users are served in turn, however many calls each of them has, and who comes rarely need not wait for those who are always there.
 */
export class FairQueue<Call extends QueuedCall> {
  readonly #lines = new Map<string, Line<Call>>()
  /** Users by the time when they were last served, oldest first. */
  readonly #served = new Map<string, number>()
  readonly #memoryMs: number
  #size = 0

  /** @param memoryMs how long it is remembered who was served when */
  constructor(memoryMs: number) {
    this.#memoryMs = memoryMs
  }

  get size(): number {
    return this.#size
  }

  *[Symbol.iterator](): Generator<Call> {
    for (const line of this.#lines.values()) yield* line.calls
  }

  has(call: Call): boolean {
    return this.#lines.get(call.user)?.calls.includes(call) ?? false
  }

  add(call: Call): void {
    const { user, light = false } = call
    const line = this.#lines.get(user) ?? { servedAt: this.#served.get(user) ?? 0, calls: [], heavy: 0 }
    this.#lines.set(user, line)
    line.calls.push(call)
    if (!light) line.heavy++
    this.#size++
  }

  /** Whether it was there. */
  remove(call: Call): boolean {
    const line = this.#lines.get(call.user)
    const at = line?.calls.indexOf(call) ?? -1
    if (!line || at < 0) return false
    line.calls.splice(at, 1)
    if (!call.light) line.heavy--
    if (line.calls.length === 0) this.#lines.delete(call.user)
    this.#size--
    return true
  }

  /** The call whose turn it is. Stays where it is. */
  next(): Call | undefined {
    let first: Line<Call> | undefined
    for (const line of this.#lines.values()) if (!first || line.servedAt < first.servedAt) first = line
    return first?.calls[0]
  }

  /** Notes that a user was served, here or elsewhere. What is older than what is known changes nothing. */
  served(user: string, at: number): void {
    if (at <= (this.#served.get(user) ?? 0)) return
    this.#served.delete(user)
    this.#served.set(user, at)
    const line = this.#lines.get(user)
    if (line) line.servedAt = at
    for (const [oldest, time] of this.#served) {
      if (time >= at - this.#memoryMs) break
      this.#served.delete(oldest)
    }
  }

  /** How many calls would be served before one more of that user, if nobody came or went. */
  ahead(user: string): number {
    const own = this.#lines.get(user)?.heavy ?? 0
    const servedAt = this.#served.get(user) ?? 0
    let ahead = own
    let passed = false
    for (const [name, line] of this.#lines) {
      if (name === user) {
        passed = true
        continue
      }
      const first = line.servedAt < servedAt || (line.servedAt === servedAt && !passed)
      // Once before each call that the user has already, and once more if they come first.
      ahead += Math.min(line.heavy, own + (first ? 1 : 0))
    }
    return ahead
  }
}
