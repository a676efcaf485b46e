import type { Clock } from '../shared/clock.ts'

/** Rings after so long a silence, again and again, while somebody waits. Each stretch of silence costs a timer, and what is said in between a look at the clock. */
export class Heartbeat {
  readonly #clock: Clock
  readonly #ms: number
  readonly #beat: () => void
  #last: number
  #waits = false
  #callOff: (() => void) | undefined

  constructor(clock: Clock, ms: number, beat: () => void) {
    this.#clock = clock
    this.#ms = ms
    this.#beat = beat
    this.#last = clock.now()
  }

  /** Somebody waits, who did not before: what counts is when something was last said. */
  wait(): void {
    this.#waits = true
    if (!this.#callOff) this.#set()
  }

  /** Nobody waits any more, for now. */
  rest(): void {
    this.#waits = false
  }

  /** Something was said: the next silence begins. */
  said(): void {
    this.#last = this.#clock.now()
  }

  /** There will be no more to wait for. */
  stop(): void {
    this.#waits = false
    this.#callOff?.()
    this.#callOff = undefined
  }

  #set(): void {
    this.#callOff = this.#clock.at(this.#last + this.#ms, () => this.#ring())
  }

  #ring(): void {
    this.#callOff = undefined
    if (!this.#waits) return
    const now = this.#clock.now()
    if (now >= this.#last + this.#ms) {
      this.#last = now
      this.#beat()
    }
    this.#set()
  }
}
