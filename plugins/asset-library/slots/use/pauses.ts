import type { Clock } from '../../../shared/clock.ts'

/** Pause before a request that waits looks at its assets again. Milliseconds. */
const pauseMs = 1_000
/** Users whose first request looks again when another one has ended. */
const maxUsers = 16

/** The pauses of requests that wait for assets. */
export class Pauses {
  readonly #clock: Clock
  /** The ends of the pauses of each user, in their order. */
  readonly #ends = new Map<string, Set<() => void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves after a pause, or with `endFirst`, or when the signal aborts. */
  begin(user: string, signal: AbortSignal): Promise<void> {
    const ends = this.#ends.get(user) ?? new Set()
    this.#ends.set(user, ends)
    return new Promise((resolve) => {
      const end = (): void => {
        cancel()
        ends.delete(end)
        if (ends.size === 0 && this.#ends.get(user) === ends) this.#ends.delete(user)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const cancel = this.#clock.at(this.#clock.now() + pauseMs, end)
      ends.add(end)
      signal.addEventListener('abort', end)
      if (signal.aborted) end()
    })
  }

  /** Ends the first pause of each user: a slot may be free, and the store knows whose turn it is. */
  endFirst(): void {
    for (const ends of [...this.#ends.values()].slice(0, maxUsers)) ends.values().next().value?.()
  }
}
