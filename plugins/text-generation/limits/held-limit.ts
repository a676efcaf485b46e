import type { CallLimit } from './call-limit.ts'

/**
 * What a call holds of limits. The end of the call gives back what was not booked, whatever the end is: a response, an
 * error of any step, or a deadline that has passed before the upstream was asked. A stream ends it later by itself.
 */
export class HeldLimit implements Disposable {
  limit: CallLimit | undefined
  #continues = false

  continueWithStream(): void {
    this.#continues = true
  }

  [Symbol.dispose](): void {
    if (!this.#continues) this.limit?.release()
  }
}
