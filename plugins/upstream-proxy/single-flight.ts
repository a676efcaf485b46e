import type { Disconnection, DisconnectionListener } from '../shared/http/disconnection.ts'

/** A call that has started. */
export interface Flight<Result> {
  readonly result: Promise<Result>
  /** Aborts the call: its last caller has disconnected. */
  abandon(reason: unknown): void
}

/** A request to join a call. `Permit` is what a call needs before it starts, for example a rate limit permit. */
export interface FlightRequest<Permit, Result> {
  /** Tells that the caller has disconnected. */
  readonly signal?: Disconnection | undefined
  /**
   * Acquires the permit. Default: the call needs none.
   *
   * `signal` aborts when another caller has started the call, or when this caller has disconnected. `joined`: other
   * callers joined before, and may receive a permit first.
   */
  readonly acquire?: (signal: AbortSignal, joined: boolean) => Promise<Permit>
  /** Returns a permit that arrived too late. */
  readonly release?: (permit: Permit) => void
  /** Starts the call for all callers. It is abandoned when all of them have disconnected. */
  readonly start: (permit: Permit | undefined) => Flight<Result>
}

type ToDisconnectError = (reason: unknown) => Error

/**
 * Single flight: concurrent callers with the same key share one call and its result or error. Nothing is cached after
 * the call.
 *
 * Each caller waits for its own permit, and the first to receive one starts the call for all. So no caller waits longer
 * than it would alone.
 */
export class SingleFlight<Permit, Result> {
  readonly #calls = new Map<string, SharedCall<Permit, Result>>()
  readonly #toDisconnectError: ToDisconnectError

  /** @param toDisconnectError maps a signal's reason to the error for a disconnected caller */
  constructor(toDisconnectError: ToDisconnectError) {
    this.#toDisconnectError = toDisconnectError
  }

  /**
   * Joins or starts the call with this key. Rejects when the call or the caller's own `acquire` rejects, and when the
   * caller disconnects.
   */
  run(key: string, request: FlightRequest<Permit, Result>): Promise<Result> {
    const { signal } = request
    if (signal?.aborted) return Promise.reject(this.#toDisconnectError(signal.reason))
    let call = this.#calls.get(key)
    if (!call) {
      call = new SharedCall(this.#calls, key)
      this.#calls.set(key, call)
    }
    return call.join(request, this.#toDisconnectError)
  }

  /** Later callers join no call that has already started: its result may be out of date. */
  forgetStarted(): void {
    for (const [key, call] of this.#calls) if (call.flight) this.#calls.delete(key)
  }
}

/** The callers that share one call. */
class SharedCall<Permit, Result> {
  flight: Flight<Result> | undefined
  readonly #waiters = new Set<Waiter<Permit, Result>>()
  readonly #calls: Map<string, SharedCall<Permit, Result>>
  readonly #key: string

  constructor(calls: Map<string, SharedCall<Permit, Result>>, key: string) {
    this.#calls = calls
    this.#key = key
  }

  join(request: FlightRequest<Permit, Result>, toDisconnectError: ToDisconnectError): Promise<Result> {
    const waiter = new Waiter(this, request, toDisconnectError)
    request.signal?.addEventListener('abort', waiter)
    const joined = this.#waiters.size > 0
    this.#waiters.add(waiter)
    if (!this.flight) {
      if (request.acquire) void this.#acquire(waiter, request.acquire, joined)
      else this.#start(request, undefined)
    }
    return waiter.result.promise
  }

  leave(waiter: Waiter<Permit, Result>, reason: unknown): void {
    this.#waiters.delete(waiter)
    if (this.#waiters.size > 0) return
    this.#close()
    this.flight?.abandon(reason)
  }

  async #acquire(
    waiter: Waiter<Permit, Result>,
    acquire: (signal: AbortSignal, joined: boolean) => Promise<Permit>,
    joined: boolean,
  ): Promise<void> {
    const { request } = waiter
    waiter.acquiring = new AbortController()
    try {
      const permit = await acquire(waiter.acquiring.signal, joined)
      waiter.acquiring = undefined
      if (this.flight || !this.#waiters.has(waiter)) request.release?.(permit)
      else this.#start(request, permit)
    } catch (error) {
      // Aborted: another caller has started the call, or this caller has disconnected.
      if (this.flight || !this.#waiters.has(waiter)) return
      this.#waiters.delete(waiter)
      if (this.#waiters.size === 0) this.#close()
      waiter.reject(error)
    }
  }

  #start(request: FlightRequest<Permit, Result>, permit: Permit | undefined): void {
    this.flight = request.start(permit)
    for (const { acquiring } of this.#waiters) acquiring?.abort()
    this.flight.result.then(
      (result) => {
        this.#close()
        for (const waiter of this.#waiters) waiter.resolve(result)
      },
      (error: unknown) => {
        this.#close()
        for (const waiter of this.#waiters) waiter.reject(error)
      },
    )
  }

  #close(): void {
    if (this.#calls.get(this.#key) === this) this.#calls.delete(this.#key)
  }
}

class Waiter<Permit, Result> implements DisconnectionListener {
  readonly request: FlightRequest<Permit, Result>
  readonly result = Promise.withResolvers<Result>()
  /** Set while the waiter acquires its permit. */
  acquiring: AbortController | undefined
  readonly #call: SharedCall<Permit, Result>
  readonly #toDisconnectError: ToDisconnectError

  constructor(
    call: SharedCall<Permit, Result>,
    request: FlightRequest<Permit, Result>,
    toDisconnectError: ToDisconnectError,
  ) {
    this.#call = call
    this.#toDisconnectError = toDisconnectError
    this.request = request
  }

  resolve(result: Result): void {
    this.request.signal?.removeEventListener('abort', this)
    this.result.resolve(result)
  }

  reject(error: unknown): void {
    this.request.signal?.removeEventListener('abort', this)
    this.result.reject(error)
  }

  /** The caller has disconnected. */
  handleEvent(): void {
    const reason: unknown = this.request.signal?.reason
    this.reject(this.#toDisconnectError(reason))
    this.acquiring?.abort(reason)
    this.#call.leave(this, reason)
  }
}
