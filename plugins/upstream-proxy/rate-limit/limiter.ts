import type { Clock } from '../../shared/clock.ts'
import { type Log, Problem } from '../../shared/problem.ts'
import { UpstreamUnreachableError } from '../../shared/upstream/upstream-error.ts'
import { FairQueue, type QueuedCall } from './fair-queue.ts'
import type { QueueTime } from './queue-time.ts'
import {
  isPermit,
  maxBlockMs,
  maxServedAgeMs,
  type PermitRequest,
  type RateLimit,
  type RateLimitDelay,
  type RateLimitPermit,
  type RateLimitStore,
} from './store.ts'

/** The client did not make the call, because the rate limits gave it no slot. The upstream has not received it. */
export class UpstreamBusyError extends Problem {}

/** Options of the rate limiter of one action. */
export interface RateLimiterOptions {
  readonly rate: RateLimit
  readonly store: RateLimitStore
  /** Maximum total wait of the calls of one request, in milliseconds. */
  readonly queueMs: number
  /** Maximum duration of a call, in milliseconds. */
  readonly callMs: number
  readonly clock: Clock
  readonly log: Log
}

/** Options of one `acquire`. */
export interface AcquireOptions {
  /**
   * Whether the call shares its upstream call with another waiting call. It may then need no permit, so it is not
   * rejected early.
   */
  readonly shared?: boolean
  /** The queue time of the request. Default: the call is the only one of its request. */
  readonly queueTime?: QueueTime
}

interface WaitingCall extends QueuedCall {
  /** The end of its maximum wait, in milliseconds since 1970. */
  readonly until: number
  resolve(permit: RateLimitPermit): void
  reject(reason: Problem): void
}

/** Added to the period, because the clocks of two machines differ slightly. */
const clockSkewMs = 10

/** Maximum time that the store may take to respond, in milliseconds. */
export const maxStoreMs = 4_000

/** The rate limiter of one action. Calls above the limit wait in a fair queue. */
export class RateLimiter {
  readonly #options: RateLimiterOptions
  readonly #queue = new FairQueue<WaitingCall>(maxServedAgeMs)
  /** No slot is free before this time. A time in the past means: unknown. */
  #nextAt = 0
  /** Whether a call had to wait since the queue was last empty. */
  #crowded = false
  #serving = false
  #wake = () => {}

  constructor(options: RateLimiterOptions) {
    this.#options = options
  }

  /**
   * Waits for a permit. Pass it to `release` when the call has ended.
   *
   * Throws UpstreamBusyError: 429 with Retry-After if the wait exceeds the maximum or is certain to, 500 if the store
   * fails, 503 if it has no room. Throws UpstreamUnreachableError if the caller has disconnected.
   */
  acquire(
    user = '',
    signal?: AbortSignal,
    { shared = false, queueTime }: AcquireOptions = {},
  ): Promise<RateLimitPermit> {
    const { clock, queueMs } = this.#options
    return new Promise((resolve, reject) => {
      const now = clock.now()
      const until = now + Math.max(0, queueMs - (queueTime?.totalMs(now) ?? 0))
      if (signal?.aborted) return reject(new UpstreamUnreachableError(signal.reason, false))
      if (!shared && this.#earliestStart(user, now) > until) return reject(this.#busy(user, now))
      const end = () => {
        this.#queue.remove(call)
        queueTime?.end(clock.now())
        signal?.removeEventListener('abort', onAbort)
      }
      const onAbort = () => {
        end()
        reject(new UpstreamUnreachableError(signal?.reason, false))
        if (this.#queue.size === 0) this.#wake()
      }
      const call: WaitingCall = {
        user,
        shared,
        until,
        resolve: (permit) => {
          end()
          resolve(permit)
        },
        reject: (reason) => {
          end()
          reject(reason)
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      queueTime?.begin(now)
      this.#queue.add(call)
      if (!this.#serving) void this.#serve()
      else if (this.#queue.next() === call) this.#wake()
    })
  }

  /** Milliseconds until one more call can start, as far as this process knows. */
  get waitMs(): number {
    const now = this.#options.clock.now()
    return this.#earliestStart('', now) - now
  }

  /** Returns a permit. `used`: its call was sent and has ended now, so its slot stays occupied for one period. */
  release(permit: RateLimitPermit, used: boolean): void {
    const { clock, rate, store, log } = this.#options
    const at = used ? clock.now() + rate.periodMs + clockSkewMs : clock.now()
    const spreadMs = used && (this.#crowded || this.#queue.size > 0) ? this.#spreadMs : 0
    // After an error here the slot becomes free when its lease ends.
    const freed = store.release(permit, at, spreadMs).catch((err: unknown) => {
      log.warn({ err, action: permit.action }, 'a rate limit slot could not be released')
    })
    if (!used) void freed.then(() => this.#wake())
  }

  /** Blocks the calls of all processes before `until`, in milliseconds since 1970. */
  async slow(until: number): Promise<void> {
    const { store, rate, log } = this.#options
    this.#nextAt = Math.max(this.#nextAt, until)
    await store.delayUntil(rate.action, until, this.#spreadMs).catch((err: unknown) => {
      log.warn({ err, action: rate.action }, 'the rate limit could not be slowed down')
    })
    this.#wake()
  }

  /** Interval at which slots become free one by one: 60 % of the interval at which a full load uses them. */
  get #spreadMs(): number {
    const { periodMs, count } = this.#options.rate
    return Math.floor((0.6 * periodMs) / count)
  }

  /** Serves waiting calls until the queue is empty. Never rejects. */
  async #serve(): Promise<void> {
    this.#serving = true
    for (let call = this.#queue.next(); call; call = this.#queue.next()) {
      try {
        const taken = await this.#take(call.user)
        if (isPermit(taken)) this.#give(taken, call)
        else await this.#wait(taken, call)
      } catch (cause) {
        const reason = new UpstreamBusyError(500, 'the rate limits of the upstream could not be checked', { cause })
        for (const each of [...this.#queue]) each.reject(reason)
      }
    }
    this.#crowded = false
    this.#serving = false
  }

  async #take(user: string): Promise<RateLimitPermit | RateLimitDelay> {
    const { store } = this.#options
    const permit = this.#crowded ? undefined : await store.take(this.#wanted(user))
    return permit ?? store.takeInTurn(this.#wanted(user))
  }

  #wanted(user: string): PermitRequest {
    const { rate, clock, callMs } = this.#options
    const now = clock.now()
    return { ...rate, user, now, leaseUntil: now + maxStoreMs + callMs + rate.periodMs }
  }

  /** @param call the call that the permit was taken for. It may have left the queue since. */
  #give(permit: RateLimitPermit, call: WaitingCall): void {
    this.#queue.served(call.user, this.#options.clock.now())
    const next = this.#queue.has(call) ? call : this.#queue.next()
    if (next) next.resolve(permit)
    else this.release(permit, false)
  }

  async #wait({ nextAt, servedAt }: RateLimitDelay, call: WaitingCall): Promise<void> {
    const { clock } = this.#options
    const now = clock.now()
    this.#crowded = true
    this.#nextAt = nextAt
    this.#queue.served(call.user, servedAt)
    for (const each of [...this.#queue]) {
      if (each.until >= nextAt && each.until > now) continue
      // Removed before the estimate: a call must not count itself.
      this.#queue.remove(each)
      each.reject(this.#busy(each.user, now))
    }
    // `servedAt` has changed the order. The store may have a slot for the user who is first now, so do not sleep.
    if (this.#queue.next() !== call) return
    const firstTimeout = Math.min(...[...this.#queue].map((each) => each.until))
    await this.#sleep(Math.min(nextAt, firstTimeout))
  }

  #sleep(until: number): Promise<void> {
    const { clock } = this.#options
    return new Promise((resolve) => {
      const cancel = clock.at(until, () => this.#wake())
      this.#wake = () => {
        cancel()
        this.#wake = () => {}
        resolve()
      }
    })
  }

  /** The earliest time at which one more call of this user can start. */
  #earliestStart(user: string, now: number): number {
    const { rate } = this.#options
    const rounds = Math.floor(this.#queue.ahead(user) / rate.count)
    // A time that is too far away comes from a clock that was ahead.
    const nextAt = this.#nextAt > now + maxBlockMs(rate) ? now : Math.max(this.#nextAt, now)
    return nextAt + rounds * rate.periodMs
  }

  #busy(user: string, now: number): UpstreamBusyError {
    const seconds = Math.max(1, Math.ceil((this.#earliestStart(user, now) - now) / 1000))
    return new UpstreamBusyError(429, 'too many requests wait for the upstream', {
      headers: { 'retry-after': String(seconds) },
    })
  }
}
