/** Somebody who asks. `Entry` is what it takes to begin a call: a place under a limit, for example. */
export interface Asker<Entry, Result> {
  /** Aborted when the asker goes away. */
  readonly signal?: AbortSignal
  /**
   * Gets what it takes to begin. Called off, by its signal, when somebody else has begun meanwhile, or the asker has left. `joined`: others were there
   * before, and may get theirs first.
   */
  readonly enter?: (signal: AbortSignal, joined: boolean) => Promise<Entry>
  /** Gives back what came too late. */
  readonly unused?: (entry: Entry) => void
  /** Makes the call for all. Its signal is aborted when all of them have left. */
  readonly begin: (entry: Entry | undefined, signal: AbortSignal) => Promise<Result>
}

interface Round<Result> {
  askers: number
  begun: boolean
  readonly answer: PromiseWithResolvers<Result>
  /** Of those who are still getting in. */
  readonly waits: Set<AbortController>
  readonly abandoned: AbortController
}

/**
 * Calls that are shared by all who ask the same thing at the same time. Each asker waits for an entry of its own, and the first to get one asks for all: so
 * nobody waits longer than alone. An error is everybody's too. Nothing is remembered when the call has ended.
 */
export class Sharing<Entry, Result> {
  readonly #rounds = new Map<string, Round<Result>>()

  /** Rejects as `begin` does; as the asker's own `enter` does; and with the signal's reason when the asker has left. */
  async ask(key: string, asker: Asker<Entry, Result>): Promise<Result> {
    const { signal } = asker
    const round = this.#rounds.get(key) ?? this.#open(key)
    const wait = new AbortController()
    const left = Promise.withResolvers<never>()
    left.promise.catch(() => {})
    const leave = () => {
      wait.abort(signal?.reason)
      left.reject(signal?.reason)
    }
    signal?.addEventListener('abort', leave, { once: true })
    if (signal?.aborted) leave()
    round.askers++
    round.waits.add(wait)
    try {
      if (!round.begun) await this.#enter(round, asker, wait)
      return await Promise.race([left.promise, round.answer.promise])
    } finally {
      signal?.removeEventListener('abort', leave)
      round.waits.delete(wait)
      if (--round.askers === 0) {
        if (this.#rounds.get(key) === round) this.#rounds.delete(key)
        round.abandoned.abort(signal?.reason)
      }
    }
  }

  /** Whoever asks from now on shares no call that has begun already. */
  seal(): void {
    for (const [key, round] of this.#rounds) if (round.begun) this.#rounds.delete(key)
  }

  #open(key: string): Round<Result> {
    const round: Round<Result> = {
      askers: 0,
      begun: false,
      answer: Promise.withResolvers(),
      waits: new Set(),
      abandoned: new AbortController(),
    }
    // When all have left, nobody listens to what becomes of it.
    round.answer.promise.catch(() => {})
    this.#rounds.set(key, round)
    return round
  }

  async #enter(
    round: Round<Result>,
    { signal, enter, unused, begin }: Asker<Entry, Result>,
    wait: AbortController,
  ): Promise<void> {
    let entry: Entry | undefined
    if (enter) {
      try {
        entry = await enter(wait.signal, round.askers > 1)
      } catch (error) {
        if (round.begun && !signal?.aborted) return
        throw error
      }
    }
    if (round.begun || signal?.aborted) {
      if (entry !== undefined) unused?.(entry)
      return
    }
    round.begun = true
    for (const other of round.waits) if (other !== wait) other.abort()
    begin(entry, round.abandoned.signal).then(round.answer.resolve, round.answer.reject)
  }
}
