import type { CoarseTimer } from '../shared/coarse-timers.ts'

/** The one signal that ends a call: when its time is over, and when nobody waits for it any more. */
export class Cancellation implements CoarseTimer, EventListenerObject {
  readonly until: number
  /** Whether nobody waits any more: then the end of the call says nothing of the upstream. */
  abandoned = false
  readonly #controller = new AbortController()
  #followed: AbortSignal | undefined

  /** @param until as `performance.now()` tells it */
  constructor(until: number) {
    this.until = until
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  over(): void {
    this.#controller.abort(new Error('no answer in time'))
  }

  abandon(reason: unknown): void {
    this.abandoned = true
    this.#controller.abort(reason)
  }

  /** Nobody waits any more when this signal is aborted. */
  follow(signal: AbortSignal | undefined): void {
    if (signal?.aborted) this.abandon(signal.reason)
    signal?.addEventListener('abort', this)
    this.#followed = signal
  }

  /** The call is over. */
  unfollow(): void {
    this.#followed?.removeEventListener('abort', this)
  }

  /** The one who waits has left. */
  handleEvent({ target }: Event): void {
    this.abandon((target as AbortSignal).reason)
  }
}
