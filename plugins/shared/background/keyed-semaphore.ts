interface Holders {
  running: number
  readonly waiting: (() => void)[]
}

/**
 * Runs some pieces of work of each key at once, for example of each user; further ones wait, in their order. Other keys
 * do not wait for them.
 */
export class KeyedSemaphore {
  readonly #permits: number
  readonly #holders = new Map<string, Holders>()

  /** @param permits pieces of work of one key that run at once */
  constructor(permits: number) {
    this.#permits = permits
  }

  /** Resolves, or rejects, as the work does. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const holders = this.#holders.get(key) ?? { running: 0, waiting: [] }
    this.#holders.set(key, holders)
    if (holders.running < this.#permits) holders.running++
    else await new Promise<void>((resolve) => holders.waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = holders.waiting.shift()
      if (next) next()
      else if (--holders.running === 0) this.#holders.delete(key)
    }
  }
}
