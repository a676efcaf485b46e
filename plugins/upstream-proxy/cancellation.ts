import type { CoarseTimer } from '../shared/background/coarse-timers.ts'

/** Aborts a call on timeout, and when its last caller has disconnected. */
export class Cancellation implements CoarseTimer, EventListenerObject {
  readonly expiresAt: number
  /**
   * Whether all callers have disconnected. The call then counts neither as a success nor as a failure of the upstream.
   */
  abandoned = false
  readonly #controller = new AbortController()
  #followed: AbortSignal | undefined

  /** @param until the deadline, on the clock of `performance.now()` */
  constructor(until: number) {
    this.expiresAt = until
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  onTimeout(): void {
    this.#controller.abort(new DOMException('no response before the timeout', 'TimeoutError'))
  }

  abandon(reason: unknown): void {
    this.abandoned = true
    this.#controller.abort(reason)
  }

  /** Abandons the call when this signal aborts. */
  follow(signal: AbortSignal | undefined): void {
    if (signal?.aborted) this.abandon(signal.reason)
    signal?.addEventListener('abort', this)
    this.#followed = signal
  }

  /** Removes the listener. Must run when the call has ended. */
  unfollow(): void {
    this.#followed?.removeEventListener('abort', this)
  }

  /** The caller has disconnected. */
  handleEvent({ target }: Event): void {
    this.abandon((target as AbortSignal).reason)
  }
}
