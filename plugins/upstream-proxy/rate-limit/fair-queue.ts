/** A call that waits for a rate limit permit. */
export interface QueuedCall {
  readonly user: string
  /**
   * Whether it shares its upstream call with another waiting call. It may leave before its turn, so estimates do not
   * count it.
   */
  readonly shared?: boolean
}

interface UserQueue<Call> {
  /** When the user was last served, in milliseconds since 1970; 0 if that is long ago. */
  servedAt: number
  readonly calls: Call[]
  /** Number of calls that are not shared. */
  unshared: number
}

/**
 * A fair queue: it serves the user who was served least recently first, and the calls of one user in order of arrival.
 *
 * So users are served round robin, whatever their number of calls is. A user who calls rarely does not wait behind
 * users who always wait.
 */
export class FairQueue<Call extends QueuedCall> {
  readonly #queues = new Map<string, UserQueue<Call>>()
  /** When each user was last served, least recent first. */
  readonly #servedAt = new Map<string, number>()
  readonly #keepMs: number
  #size = 0

  /** @param keepMs how long the time when a user was last served is kept, in milliseconds */
  constructor(keepMs: number) {
    this.#keepMs = keepMs
  }

  get size(): number {
    return this.#size
  }

  *[Symbol.iterator](): Generator<Call> {
    for (const queue of this.#queues.values()) yield* queue.calls
  }

  has(call: Call): boolean {
    return this.#queues.get(call.user)?.calls.includes(call) ?? false
  }

  add(call: Call): void {
    const { user, shared = false } = call
    const queue = this.#queues.get(user) ?? { servedAt: this.#servedAt.get(user) ?? 0, calls: [], unshared: 0 }
    this.#queues.set(user, queue)
    queue.calls.push(call)
    if (!shared) queue.unshared++
    this.#size++
  }

  /** Returns whether the call was in the queue. */
  remove(call: Call): boolean {
    const queue = this.#queues.get(call.user)
    const at = queue?.calls.indexOf(call) ?? -1
    if (!queue || at < 0) return false
    queue.calls.splice(at, 1)
    if (!call.shared) queue.unshared--
    if (queue.calls.length === 0) this.#queues.delete(call.user)
    this.#size--
    return true
  }

  /** The call whose turn it is. It stays in the queue. */
  next(): Call | undefined {
    let first: UserQueue<Call> | undefined
    for (const queue of this.#queues.values()) if (!first || queue.servedAt < first.servedAt) first = queue
    return first?.calls[0]
  }

  /** Records when this or another process has served a user. Ignores a time before the one on record. */
  served(user: string, at: number): void {
    if (at <= (this.#servedAt.get(user) ?? 0)) return
    this.#servedAt.delete(user)
    this.#servedAt.set(user, at)
    const queue = this.#queues.get(user)
    if (queue) queue.servedAt = at
    for (const [oldest, time] of this.#servedAt) {
      if (time >= at - this.#keepMs) break
      this.#servedAt.delete(oldest)
    }
  }

  /** Number of calls that would be served before a new call of this user, if the queue did not change otherwise. */
  ahead(user: string): number {
    const own = this.#queues.get(user)?.unshared ?? 0
    const servedAt = this.#servedAt.get(user) ?? 0
    let ahead = own
    let passed = false
    for (const [name, queue] of this.#queues) {
      if (name === user) {
        passed = true
        continue
      }
      const first = queue.servedAt < servedAt || (queue.servedAt === servedAt && !passed)
      // The other user is served once before each waiting call of this user, and once more if the other user is first.
      ahead += Math.min(queue.unshared, own + (first ? 1 : 0))
    }
    return ahead
  }
}
