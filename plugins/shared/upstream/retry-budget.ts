import type { Clock } from '../clock.ts'

const windowMs = 10_000
/** Part of the calls of a window that may be repeated. */
const share = 0.1
/** Repetitions of a window that are always allowed. */
const floor = 3

/** Bounds the calls that are sent a second time: an upstream that fails must not get twice the load. */
export class RetryBudget {
  readonly #clock: Pick<Clock, 'now'>
  #windowEnd = 0
  #calls = 0
  #retries = 0

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** A call is sent for the first time. */
  count(): void {
    this.#enterWindow()
    this.#calls++
  }

  /** Whether one more call may be repeated, which then counts. */
  take(): boolean {
    this.#enterWindow()
    if (this.#retries >= Math.max(floor, share * this.#calls)) return false
    this.#retries++
    return true
  }

  #enterWindow(): void {
    const now = this.#clock.now()
    if (now < this.#windowEnd) return
    this.#windowEnd = now + windowMs
    this.#calls = 0
    this.#retries = 0
  }
}
