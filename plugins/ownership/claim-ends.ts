import type { Clock } from '../shared/clock.ts'
import type { ClaimStore } from './store.ts'

/** A write that ends a claim. It has failed, or may have run before the write that it must follow. */
export interface ClaimEnd {
  readonly write: () => Promise<void>
  /** From this time on, reconciliation handles the claim. Milliseconds since 1970. */
  readonly until: number
  /** After these delays, a write that has succeeded is repeated. Milliseconds. */
  readonly repeatAfterMs: readonly number[]
}

interface WaitingEnd {
  readonly at: number
  readonly end: ClaimEnd
}

const minRetryMs = 250
const maxRetryMs = 5_000
/** Further claims wait for reconciliation. */
const maxEnds = 1_000

/**
 * Writes the ends of claims as soon as the store responds, one at a time. While the store fails there is one attempt
 * after each delay, however many claims wait: an attempt can take as long as the deadline of the store, and on SQLite
 * it blocks the process.
 */
class ClaimEnds {
  readonly #clock: Clock
  readonly #waiting: WaitingEnd[] = []
  #running = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(end: ClaimEnd, at: number): void {
    if (this.#waiting.length >= maxEnds) return
    this.#waiting.push({ at, end })
    if (!this.#running) void this.#run()
  }

  async #run(): Promise<void> {
    this.#running = true
    let retryMs = minRetryMs
    for (let next = this.#earliest(); next; next = this.#earliest()) {
      const { at, end } = next
      await this.#sleepUntil(at)
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      if (this.#clock.now() >= end.until) continue
      try {
        await end.write()
        retryMs = minRetryMs
        const [repeatMs, ...repeatAfterMs] = end.repeatAfterMs
        if (repeatMs !== undefined) this.add({ ...end, repeatAfterMs }, this.#clock.now() + repeatMs)
      } catch {
        await this.#sleepUntil(this.#clock.now() + retryMs)
        retryMs = Math.min(2 * retryMs, maxRetryMs)
        // After all that are due: perhaps only this one fails.
        this.add(end, this.#clock.now())
      }
    }
    this.#running = false
  }

  #earliest(): WaitingEnd | undefined {
    const [first, ...others] = this.#waiting
    return first && others.reduce((earliest, each) => (each.at < earliest.at ? each : earliest), first)
  }

  #sleepUntil(time: number): Promise<void> {
    return new Promise((resolve) => this.#clock.at(time, resolve))
  }
}

const endsOf = new WeakMap<ClaimStore, ClaimEnds>()

/** Writes the end of a claim in the background, at `at` or as soon as the store responds after it. */
export const endClaimLater = (store: ClaimStore, end: ClaimEnd, clock: Clock, at = clock.now()): void => {
  const ends = endsOf.get(store) ?? new ClaimEnds(clock)
  endsOf.set(store, ends)
  ends.add(end, at)
}
