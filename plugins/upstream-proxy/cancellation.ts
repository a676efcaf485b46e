import type { CoarseTimer } from '../shared/background/coarse-timers.ts'
import type { Disconnection, DisconnectionListener } from '../shared/http/disconnection.ts'

/** Aborts a call on timeout, and when its last caller has disconnected. */
export class Cancellation implements CoarseTimer, DisconnectionListener {
  readonly expiresAt: number
  /**
   * Whether all callers have disconnected. The call then counts neither as a success nor as a failure of the upstream.
   */
  abandoned = false
  readonly #controller = new AbortController()
  #followed: Disconnection | undefined

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

  /** Abandons the call when its only caller disconnects. */
  follow(caller: Disconnection | undefined): void {
    if (caller?.aborted) this.abandon(caller.reason)
    caller?.addEventListener('abort', this)
    this.#followed = caller
  }

  /** Removes the listener. Must run when the call has ended. */
  unfollow(): void {
    this.#followed?.removeEventListener('abort', this)
  }

  /** The caller has disconnected. */
  handleEvent(): void {
    this.abandon(this.#followed?.reason)
  }
}
