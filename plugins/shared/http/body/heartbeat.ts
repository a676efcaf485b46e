import type { Clock } from '../../clock.ts'

/**
 * Calls `beat` after each interval without output, as long as the client waits for bytes.
 *
 * Output does not restart the timer: it only sets the time of the last output, which the timer compares when it fires.
 */
export class Heartbeat {
  readonly #clock: Clock
  readonly #ms: number
  readonly #beat: () => void
  #lastOutput: number
  #waiting = false
  #cancelTimer: (() => void) | undefined

  constructor(clock: Clock, ms: number, beat: () => void) {
    this.#clock = clock
    this.#ms = ms
    this.#beat = beat
    this.#lastOutput = clock.now()
  }

  /** The client waits for bytes. The interval counts from the last output. */
  wait(): void {
    this.#waiting = true
    if (!this.#cancelTimer) this.#startTimer()
  }

  /** The client does not wait any more, for now. */
  rest(): void {
    this.#waiting = false
  }

  /** Bytes were sent: the interval starts again. */
  sent(): void {
    this.#lastOutput = this.#clock.now()
  }

  /** Stops the heartbeat. */
  stop(): void {
    this.#waiting = false
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #startTimer(): void {
    this.#cancelTimer = this.#clock.at(this.#lastOutput + this.#ms, () => this.#onTimer())
  }

  #onTimer(): void {
    this.#cancelTimer = undefined
    if (!this.#waiting) return
    const now = this.#clock.now()
    if (now >= this.#lastOutput + this.#ms) {
      this.#lastOutput = now
      this.#beat()
    }
    this.#startTimer()
  }
}
