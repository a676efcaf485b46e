/**
 * Work that waits, in turns of the users: whoever has much of it waiting delays the others by one piece in each round.
 * Work of no user has a turn of its own, as if it were that of a further user.
 */
export class WaitingWork<Work> {
  /** By user, or by the work itself. The first is next; none is empty. */
  readonly #queues = new Map<unknown, Work[]>()

  /** Returns a function that removes the work, unless it has had its turn. */
  add(work: Work, user: string | undefined): () => void {
    const owner = user ?? work
    const queue = this.#queues.get(owner)
    if (queue) queue.push(work)
    else this.#queues.set(owner, [work])
    return () => this.#remove(owner, work)
  }

  /**
   * Removes and returns the work whose turn it is.
   *
   * @param mayRun whether work of a user may have its turn. Default: of all
   */
  next(mayRun: (owner: unknown) => boolean = () => true): Work | undefined {
    for (const [owner, queue] of this.#queues) {
      if (!mayRun(owner)) continue
      const work = queue.shift()
      this.#queues.delete(owner)
      if (queue.length > 0) this.#queues.set(owner, queue)
      return work
    }
    return undefined
  }

  #remove(owner: unknown, work: Work): void {
    const queue = this.#queues.get(owner) ?? []
    const at = queue.indexOf(work)
    if (at >= 0) queue.splice(at, 1)
    if (queue.length === 0) this.#queues.delete(owner)
  }
}
