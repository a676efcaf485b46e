import { countInFlight, type InFlight } from '../shared/http/in-flight.ts'
import { busy } from '../shared/http/turn/request-turns.ts'
import { Problem } from '../shared/problem.ts'

/** Limits on concurrent use, of the process or of one user. */
export interface MaxConcurrency {
  /**
   * Requests whose response has not started. In the process, at most a quarter may be unauthenticated requests with a
   * body, such as logins.
   */
  readonly maxRequests: number
  /** Open response streams. */
  readonly maxStreams: number
  /**
   * Bytes of request bodies, from their read to the end of the request, and of responses that the client has not read
   * yet.
   */
  readonly maxUnreadBodyBytes: number
}

/** Current counts. */
export interface Concurrency {
  readonly requests: number
  readonly streams: number
  readonly bodyBytes: number
}

type Counts = { -readonly [Name in keyof Concurrency]: Concurrency[Name] }

/** The limits of the process and of each user. */
export interface ScopedLimits {
  readonly process: MaxConcurrency
  readonly user: MaxConcurrency
}

/** Counts requests, streams and bytes of bodies, in total and for each user. */
export class ConcurrencyCounts {
  readonly limits: ScopedLimits
  readonly all: Counts = noCounts()
  readonly users = new Map<string, Counts>()
  /** Number of requests in flight whose body was read before authentication. */
  unauthenticated = 0

  constructor(limits: ScopedLimits) {
    this.limits = limits
  }

  /** Counts a new request. Throws Problem 503 if the process has reached its limit, unless the request is exempt. */
  enter(request: Request, exempt: (request: Request) => boolean): CountedRequest {
    if (this.all.requests >= this.limits.process.maxRequests && !exempt(request)) throw busy
    this.all.requests++
    const counted = new CountedRequest(this)
    countInFlight(request, counted)
    return counted
  }
}

/** The counts of one request. They are released when its response is complete and, if it is a stream, has ended. */
export class CountedRequest implements InFlight {
  readonly #counts: ConcurrencyCounts
  #userName = ''
  #user: Counts | undefined
  #bodyBytes = 0
  #unsentBytes = 0
  #responded = false
  #unauthenticated = false
  #streams = false

  constructor(counts: ConcurrencyCounts) {
    this.#counts = counts
  }

  identified(name: string): void {
    if (this.#user || this.#responded) return
    const { limits, users } = this.#counts
    const user = users.get(name) ?? noCounts()
    if (user.requests >= limits.user.maxRequests) throw tooManyRequests
    if (user.bodyBytes + this.#bodyBytes > limits.user.maxUnreadBodyBytes) throw tooManyBytes
    if (this.#streams && user.streams >= limits.user.maxStreams) throw tooManyStreams
    user.requests++
    user.bodyBytes += this.#bodyBytes
    if (this.#streams) user.streams++
    users.set(name, user)
    this.#userName = name
    this.#user = user
  }

  reading(bytes: number): void {
    const { limits, all } = this.#counts
    const user = this.#user
    if (user && user.bodyBytes + bytes > limits.user.maxUnreadBodyBytes) throw tooManyBytes
    if (all.bodyBytes + bytes > limits.process.maxUnreadBodyBytes) throw busy
    // The counts of this request have been released already, so nothing would release these bytes.
    if (this.#responded && !this.#streams) return
    if (!user && !this.#unauthenticated && !this.#responded) {
      // Unauthenticated clients that send slowly must not use all requests of the process.
      if (this.#counts.unauthenticated >= limits.process.maxRequests / 4) throw busy
      this.#counts.unauthenticated++
      this.#unauthenticated = true
    }
    all.bodyBytes += bytes
    if (user) user.bodyBytes += bytes
    this.#bodyBytes += bytes
  }

  streaming(): void {
    if (this.#streams || this.#responded) return
    const { limits, all } = this.#counts
    const user = this.#user
    if (user && user.streams >= limits.user.maxStreams) throw tooManyStreams
    if (all.streams >= limits.process.maxStreams) throw busy
    all.streams++
    if (user) user.streams++
    this.#streams = true
  }

  streamed(): void {
    if (!this.#streams) return
    this.#streams = false
    this.#counts.all.streams--
    if (this.#user) this.#user.streams--
    this.#release()
  }

  /** The handler has returned a response, or has failed. */
  responded(): void {
    if (this.#responded) return
    this.#responded = true
    this.#counts.all.requests--
    if (this.#unauthenticated) this.#counts.unauthenticated--
    if (this.#user) this.#user.requests--
    this.#release()
  }

  sending(bytes: number): void {
    if (!this.#responded) return
    const { limits, all, users } = this.#counts
    // The request may have been released, and the counts of its user deleted.
    const user = this.#user && (users.get(this.#userName) ?? this.#user)
    if (user && user.bodyBytes + bytes > limits.user.maxUnreadBodyBytes) throw tooManyBytes
    if (all.bodyBytes + bytes > limits.process.maxUnreadBodyBytes) throw busy
    all.bodyBytes += bytes
    this.#unsentBytes += bytes
    this.#user = user
    if (!user) return
    user.bodyBytes += bytes
    users.set(this.#userName, user)
  }

  sent(): void {
    this.#counts.all.bodyBytes -= this.#unsentBytes
    if (this.#user) this.#user.bodyBytes -= this.#unsentBytes
    this.#unsentBytes = 0
    this.#deleteIdleUser()
  }

  #release(): void {
    if (!this.#responded || this.#streams) return
    this.#counts.all.bodyBytes -= this.#bodyBytes
    if (this.#user) this.#user.bodyBytes -= this.#bodyBytes
    this.#deleteIdleUser()
  }

  /** Deletes the counts of a user without anything in flight. */
  #deleteIdleUser(): void {
    const user = this.#user
    const { users } = this.#counts
    if (!user || users.get(this.#userName) !== user) return
    if (user.requests === 0 && user.streams === 0 && user.bodyBytes === 0) users.delete(this.#userName)
  }
}

const noCounts = (): Counts => ({ requests: 0, streams: 0, bodyBytes: 0 })

const retryAfter = { headers: { 'retry-after': '1' } }
const tooMany = (what: string) =>
  new Problem(429, `too many ${what} at once`, {
    ...retryAfter,
    event: { action: 'limit.reach', target: { kind: what } },
  })

// One shared instance each: a request that is refused must cost much less than one that is handled.
const tooManyRequests = tooMany('requests')
const tooManyBytes = tooMany('bytes of bodies')
const tooManyStreams = tooMany('streams')
