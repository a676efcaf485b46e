import type { Clock } from '../shared/clock.ts'
import type { WhenRevoked } from '../shared/revocation.ts'

export interface DeadlineOptions {
  readonly clock: Clock
  /** When the time is over, in milliseconds since 1970. */
  readonly at: number
  /** Ends it too: the caller has left. */
  readonly caller: AbortSignal
  /** Milliseconds for which it goes on after that, if the caller was there at first. Default 0. */
  readonly lingerMs?: number
  /** And so does this: the caller's credential has ceased to hold. */
  readonly whenRevoked?: WhenRevoked
}

/** Ends a call at a time, when its caller leaves, or when the caller's credential ceases to hold: one signal, and why it was given. */
export class Deadline implements Disposable, EventListenerObject {
  readonly #options: DeadlineOptions
  readonly #controller = new AbortController()
  readonly #cancelTimer: () => void
  readonly #unwatchCredential: (() => void) | undefined
  #cancelLinger: (() => void) | undefined
  #passed = false
  #revoked = false

  constructor(options: DeadlineOptions) {
    const { clock, at, caller, whenRevoked } = options
    this.#options = options
    if (caller.aborted) this.#disconnect()
    else caller.addEventListener('abort', this)
    if (at <= clock.now()) this.#expire()
    this.#cancelTimer = clock.at(at, this.#expire)
    this.#unwatchCredential = whenRevoked?.(this.#revoke)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether it was the time that ended it. */
  get passed(): boolean {
    return this.#passed
  }

  /** Whether it was the credential. */
  get revoked(): boolean {
    return this.#revoked
  }

  /** The caller has left. */
  handleEvent(): void {
    const { clock, lingerMs = 0 } = this.#options
    if (lingerMs === 0) this.#disconnect()
    else this.#cancelLinger = clock.at(clock.now() + lingerMs, this.#disconnect)
  }

  [Symbol.dispose](): void {
    this.#cancelTimer()
    this.#cancelLinger?.()
    this.#unwatchCredential?.()
    this.#options.caller.removeEventListener('abort', this)
  }

  readonly #disconnect = (): void => this.#controller.abort(this.#options.caller.reason)

  readonly #expire = (): void => {
    if (this.signal.aborted) return
    this.#passed = true
    this.#controller.abort(new Error('the time for a call without streaming is over'))
  }

  readonly #revoke = (): void => {
    if (this.signal.aborted) return
    this.#revoked = true
    this.#controller.abort(new Error('the credential has ceased to hold'))
  }
}

/**
 * Milliseconds that a call without streaming may take: the limit, or less where the client has said that it waits no longer (`x-stainless-timeout`, in
 * seconds): an answer cut off a little earlier is worth more to it than none.
 */
export const timeoutOf = (headers: Headers, limitMs: number): number => {
  const clientMs = Number(headers.get('x-stainless-timeout') ?? Number.NaN) * 1000
  return clientMs > 0 ? Math.min(limitMs, clientMs * 0.9) : limitMs
}
