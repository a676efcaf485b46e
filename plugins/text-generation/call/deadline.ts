import { type Awaitable, orFail } from '../../shared/awaitable.ts'
import type { Clock } from '../../shared/clock.ts'
import { type Disconnection, type DisconnectionListener, disconnectionOf } from '../../shared/http/disconnection.ts'
import type { WhenRevoked } from '../../shared/identity/revocation.ts'
import { TextProblem } from '../protocol/problem.ts'

export interface DeadlineOptions {
  readonly clock: Clock
  /** The deadline, in milliseconds since 1970. */
  readonly at: number
  /** Whether it is the caller's own. Then a call that it aborts does not count as a failure of the upstream. */
  readonly isCallers?: boolean
  /** When the caller disconnects, the call is aborted too. */
  readonly caller: Disconnection
  /**
   * Milliseconds for which the call continues after the caller has disconnected. Default 0. A request that has already
   * been aborted does not continue.
   */
  readonly lingerMs?: number
  /** Registers a listener for the revocation of the caller's credential, which aborts the call too. */
  readonly whenRevoked?: WhenRevoked
}

/** Aborts a call at its deadline, when the caller disconnects, or when the caller's credential is revoked. */
export class Deadline implements Disposable, DisconnectionListener {
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

  /** Whether the deadline aborted the call. */
  get passed(): boolean {
    return this.#passed
  }

  /** Whether the revocation of the credential aborted the call. */
  get revoked(): boolean {
    return this.#revoked
  }

  /** Handles the abort of the caller's signal. */
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
    const message = 'time limit of a non-streaming request exceeded'
    this.#controller.abort(this.#options.isCallers ? new Error(message) : new DOMException(message, 'TimeoutError'))
  }

  readonly #revoke = (): void => {
    if (this.signal.aborted) return
    this.#revoked = true
    this.#controller.abort(new Error('credential revoked'))
  }
}

/**
 * 90 % of the client's own timeout for a non-streaming request, in milliseconds. Infinity: it tells none.
 *
 * If that is less than the gateway's limit, the client receives a partial response instead of none. The client
 * libraries of OpenAI and Anthropic send their timeout in seconds: those for JavaScript as `x-stainless-timeout`, those
 * for Python as `x-stainless-read-timeout`, their maximum wait for the next byte. A non-streaming response has no byte
 * before its end.
 */
export const clientTimeoutOf = (headers: Headers): number => {
  let ms = Number.POSITIVE_INFINITY
  for (const name of timeoutHeaders) {
    const clientMs = Number(headers.get(name) ?? Number.NaN) * 900
    if (clientMs > 0 && clientMs < ms) ms = clientMs
  }
  return ms
}

/** A reservation waits no longer than that. */
const maxReservationMs = 2_000

/** Runs a reservation that ends with the client's own timeout, if that is short: then with Problem 408. */
export const withinTimeout = <Result>(
  clientTimeoutMs: number,
  request: Request,
  reserve: (caller: Disconnection) => Awaitable<Result>,
): Awaitable<Result> => {
  if (clientTimeoutMs >= maxReservationMs) return reserve(disconnectionOf(request))
  const timeout = AbortSignal.timeout(Math.ceil(clientTimeoutMs))
  return orFail(reserve(AbortSignal.any([request.signal, timeout])), (error) => {
    throw error === timeout.reason ? timedOut() : error
  })
}

const timedOut = () => new TextProblem(408, "the client's timeout has passed while the call waited for others to end")

const timeoutHeaders = ['x-stainless-timeout', 'x-stainless-read-timeout'] as const
