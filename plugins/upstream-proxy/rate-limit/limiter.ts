import type { Clock } from '../../shared/clock.ts'
import { type Log, Problem } from '../../shared/problem.ts'
import { UpstreamUnreachableError } from '../response.ts'
import { FairQueue, type QueuedCall } from './fair-queue.ts'
import type { QueueTime } from './queue-time.ts'
import {
  isPermit,
  type PermitRequest,
  type RateLimit,
  type RateLimitDelay,
  type RateLimitPermit,
  type RateLimitStore,
  turnMemoryMs,
} from './store.ts'

/** The call was not made, because no place under the upstream's limits was to be had. Nothing has happened upstream. */
export class UpstreamBusyError extends Problem {}

export interface RateLimiterOptions {
  readonly rate: RateLimit
  readonly store: RateLimitStore
  /** Longest wait for places of all calls of one request together, in milliseconds. */
  readonly queueMs: number
  /** Longest time that a call may keep its place, in milliseconds. */
  readonly callMs: number
  readonly clock: Clock
  readonly log: Log
}

export interface Entering {
  /** The call may be spared by another one that waits, so nothing is certain. */
  readonly light?: boolean
  /** Of the request that the call is made for. Default: the call is all there is. */
  readonly waited?: QueueTime
}

interface Call extends QueuedCall {
  /** When its wait has been too long. */
  readonly until: number
  enter(place: RateLimitPermit): void
  refuse(reason: Problem): void
}

/** Clocks of two machines are never quite the same. */
const marginMs = 10
/** Time for the places to answer before the call begins. */
export const answerMs = 4_000

/** Lets as many calls of one action through as its limit allows, and lets the others wait, in turn by user. */
export class RateLimiter {
  readonly #options: RateLimiterOptions
  readonly #queue = new FairQueue<Call>(turnMemoryMs)
  /** No place can be had before; a time in the past when nothing is known. */
  #nextAt = 0
  /** Whether somebody had to wait since the queue was last empty. */
  #crowded = false
  #serving = false
  #wake = () => {}

  constructor(options: RateLimiterOptions) {
    this.#options = options
  }

  /**
   * A place, to be given back with `leave` when the call has ended. Throws Unsent 429 with Retry-After when the wait is, or is certain to become, too long,
   * Unsent 500 when the places cannot be asked, and Unreachable when the caller has left.
   */
  enter(user = '', signal?: AbortSignal, { light = false, waited }: Entering = {}): Promise<RateLimitPermit> {
    const { clock, queueMs } = this.#options
    return new Promise((resolve, reject) => {
      const now = clock.now()
      const until = now + Math.max(0, queueMs - (waited?.until(now) ?? 0))
      if (signal?.aborted) return reject(new UpstreamUnreachableError(signal.reason, false))
      if (!light && this.#expected(user, now) > until) return reject(this.#busy(user, now))
      const end = () => {
        this.#queue.remove(call)
        waited?.end(clock.now())
        signal?.removeEventListener('abort', leave)
      }
      const leave = () => {
        end()
        reject(new UpstreamUnreachableError(signal?.reason, false))
        if (this.#queue.size === 0) this.#wake()
      }
      const call: Call = {
        user,
        light,
        until,
        enter: (place) => {
          end()
          resolve(place)
        },
        refuse: (reason) => {
          end()
          reject(reason)
        },
      }
      signal?.addEventListener('abort', leave, { once: true })
      waited?.begin(now)
      this.#queue.add(call)
      if (!this.#serving) void this.#serve()
      else if (this.#queue.next() === call) this.#wake()
    })
  }

  /** Gives back a place. `used`: for a call that has ended just now. */
  leave(place: RateLimitPermit, used: boolean): void {
    const { clock, rate, store: places, log } = this.#options
    const at = used ? clock.now() + rate.periodMs + marginMs : clock.now()
    const spreadMs = used && (this.#crowded || this.#queue.size > 0) ? this.#spreadMs : 0
    // If it cannot be given back now, it is free when its lease has ended.
    const freed = places.free(place, at, spreadMs).catch((err: unknown) => {
      log.warn({ err, action: place.action }, 'place under an upstream limit could not be given back')
    })
    if (!used) void freed.then(() => this.#wake())
  }

  /** Lets no call of any process through before `until`. */
  async slow(until: number): Promise<void> {
    const { store: places, rate, log } = this.#options
    this.#nextAt = Math.max(this.#nextAt, until)
    await places.slow(rate.action, until, this.#spreadMs).catch((err: unknown) => {
      log.warn({ err, action: rate.action }, 'upstream limit could not be slowed down')
    })
    this.#wake()
  }

  /** Distance of places when they become free one by one: a little less than it takes to use them all. */
  get #spreadMs(): number {
    const { periodMs, count } = this.#options.rate
    return Math.floor((0.6 * periodMs) / count)
  }

  /** Until nobody waits. Never rejects. */
  async #serve(): Promise<void> {
    this.#serving = true
    for (let call = this.#queue.next(); call; call = this.#queue.next()) {
      try {
        const taken = await this.#ask(call.user)
        if (isPermit(taken)) this.#give(taken, call)
        else await this.#wait(taken, call)
      } catch (cause) {
        const reason = new UpstreamBusyError(500, 'upstream limits could not be checked', { cause })
        for (const each of [...this.#queue]) each.refuse(reason)
      }
    }
    this.#crowded = false
    this.#serving = false
  }

  async #ask(user: string): Promise<RateLimitPermit | RateLimitDelay> {
    const { store: places } = this.#options
    const place = this.#crowded ? undefined : await places.take(this.#wanted(user))
    return place ?? places.takeInTurn(this.#wanted(user))
  }

  #wanted(user: string): PermitRequest {
    const { rate, clock, callMs } = this.#options
    const now = clock.now()
    return { ...rate, user, now, leaseUntil: now + answerMs + callMs + rate.periodMs }
  }

  /** @param call the one that the place was taken for, which may have left meanwhile */
  #give(place: RateLimitPermit, call: Call): void {
    this.#queue.served(call.user, this.#options.clock.now())
    const next = this.#queue.has(call) ? call : this.#queue.next()
    if (next) next.enter(place)
    else this.leave(place, false)
  }

  async #wait({ nextAt, servedAt }: RateLimitDelay, call: Call): Promise<void> {
    const { clock } = this.#options
    const now = clock.now()
    this.#crowded = true
    this.#nextAt = nextAt
    this.#queue.served(call.user, servedAt)
    for (const each of [...this.#queue]) {
      if (each.until >= nextAt && each.until > now) continue
      // First out, then reckoned: it is not in its own way.
      this.#queue.remove(each)
      each.refuse(this.#busy(each.user, now))
    }
    // Somebody else's turn, as it turns out: theirs may be a place that was not to be had for this user.
    if (this.#queue.next() !== call) return
    const patience = Math.min(...[...this.#queue].map((each) => each.until))
    await this.#sleep(Math.min(nextAt, patience))
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

  /** When one more call of that user could begin, at the soonest. */
  #expected(user: string, now: number): number {
    const { count, periodMs } = this.#options.rate
    const rounds = Math.floor(this.#queue.ahead(user) / count)
    return Math.max(this.#nextAt, now) + rounds * periodMs
  }

  #busy(user: string, now: number): UpstreamBusyError {
    const seconds = Math.max(1, Math.ceil((this.#expected(user, now) - now) / 1000))
    return new UpstreamBusyError(429, 'too many requests wait for the upstream', {
      headers: { 'retry-after': String(seconds) },
    })
  }
}
