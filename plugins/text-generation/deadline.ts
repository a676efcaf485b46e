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
  readonly #ending = new AbortController()
  readonly #silence: () => void
  readonly #forget: (() => void) | undefined
  #linger: (() => void) | undefined
  #passed = false
  #revoked = false

  constructor(options: DeadlineOptions) {
    const { clock, at, caller, whenRevoked } = options
    this.#options = options
    if (caller.aborted) this.#leave()
    else caller.addEventListener('abort', this)
    if (at <= clock.now()) this.#ring()
    this.#silence = clock.at(at, this.#ring)
    this.#forget = whenRevoked?.(this.#revoke)
  }

  get signal(): AbortSignal {
    return this.#ending.signal
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
    if (lingerMs === 0) this.#leave()
    else this.#linger = clock.at(clock.now() + lingerMs, this.#leave)
  }

  [Symbol.dispose](): void {
    this.#silence()
    this.#linger?.()
    this.#forget?.()
    this.#options.caller.removeEventListener('abort', this)
  }

  readonly #leave = (): void => this.#ending.abort(this.#options.caller.reason)

  readonly #ring = (): void => {
    if (this.signal.aborted) return
    this.#passed = true
    this.#ending.abort(new Error('the time for a call without streaming is over'))
  }

  readonly #revoke = (): void => {
    if (this.signal.aborted) return
    this.#revoked = true
    this.#ending.abort(new Error('the credential has ceased to hold'))
  }
}

/**
 * Milliseconds that a call without streaming may take: the limit, or less where the client has said that it waits no longer (`x-stainless-timeout`, in
 * seconds): an answer cut off a little earlier is worth more to it than none.
 */
export const timeFor = (headers: Headers, limitMs: number): number => {
  const given = Number(headers.get('x-stainless-timeout') ?? Number.NaN) * 1000
  return given > 0 ? Math.min(limitMs, given * 0.9) : limitMs
}
