import type { Sleep } from '../../plugins/shared/background/delay.ts'
import type { Clock } from '../../plugins/shared/clock.ts'

/** A clock that only a test advances. */
export class VirtualClock implements Clock {
  #now: number
  readonly #turns: number
  readonly #timers = new Set<{ readonly time: number; readonly run: () => void }>()

  /**
   * @param turns turns of the event loop that the work between two timers takes: on SQLite, one for each write. Default 1
   * @param start its time, in milliseconds. Default 1,000,000
   */
  constructor(turns = 1, start = 1_000_000) {
    this.#turns = turns
    this.#now = start
  }

  now = (): number => this.#now

  at(time: number, run: () => void): () => void {
    const timer = { time, run }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.at(this.#now + ms, resolve))
  }

  /** The number of active timers. */
  get pending(): number {
    return this.#timers.size
  }

  /** Waits until nothing happens without time. */
  protected settled(): Promise<void> {
    return settled(this.#turns)
  }

  /** Advances the clock by `ms` milliseconds and runs the timers that are due, in order. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms
    for (;;) {
      await this.settled()
      const due = [...this.#timers].sort((a, b) => a.time - b.time)[0]
      if (!due || due.time > until) break
      this.#timers.delete(due)
      this.#now = Math.max(this.#now, due.time)
      due.run()
    }
    this.#now = until
  }
}

/** Waits on a clock. */
export const sleepOn =
  (clock: Clock): Sleep =>
  (ms, signal) =>
    new Promise((resolve) => {
      const end = () => {
        cancel()
        signal.removeEventListener('abort', end)
        resolve()
      }
      const cancel = clock.at(clock.now() + ms, end)
      signal.addEventListener('abort', end)
      if (signal.aborted) end()
    })

/** Resolves when all pending work that waits for no timer is done, and that takes no more than these turns of the event loop. */
export const settled = async (turns = 1): Promise<void> => {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}
