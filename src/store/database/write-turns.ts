import { setImmediate } from 'node:timers'
import { afterIo } from '../../../plugins/shared/background/turns.ts'

/**
 * Lets one write run in each turn of the event loop, in the order of their calls. A write of a synchronous driver waits
 * for the disk: many in one turn would keep all other requests waiting for the sum.
 */
export class WriteTurns {
  readonly #waiting: (() => void)[] = []
  #isTaken = false

  /** Undefined: the caller may write now. */
  next(): Promise<void> | undefined {
    if (!this.#isTaken) {
      this.#isTaken = true
      setImmediate(this.#turn)
      return undefined
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  readonly #turn = (): void => {
    const next = this.#waiting.shift()
    if (next) {
      next()
      afterIo(this.#turn)
    } else this.#isTaken = false
  }
}
