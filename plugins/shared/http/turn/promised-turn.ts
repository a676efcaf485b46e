import type { Problem } from '../../problem.ts'
import type { WaitingForTurn } from './request-turns.ts'

/** What waits for its turn with a promise, which is created only if it has to wait. */
export abstract class PromisedTurn implements WaitingForTurn {
  #resolve: ((refusal?: Problem) => void) | undefined
  #hasBegun = false
  #refusal: Problem | undefined

  abstract readonly hasLeft: boolean

  /** Creates the promise. It resolves at its turn, with a problem if the request must not be handled. */
  untilBegun(): Promise<Problem | undefined> {
    if (this.#hasBegun) return Promise.resolve(this.#refusal)
    return new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  begin(refusal?: Problem): void {
    this.#hasBegun = true
    this.#refusal = refusal
    this.#resolve?.(refusal)
  }
}
