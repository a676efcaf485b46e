import { countInFlight, type InFlight } from '../shared/in-flight.ts'
import { Problem } from '../shared/problem.ts'

/** Most at the same time. */
export interface MaxConcurrency {
  /** Requests whose answer has not begun. Of the process's, a quarter may be having their bodies read without anybody knowing whose they are, as a login has. */
  readonly maxRequests: number
  /** Answers that are streams. */
  readonly maxStreams: number
  /** Bytes of request bodies that are being read, or held until their request is over; and of answers, until their caller has read them. */
  readonly maxUnreadBodyBytes: number
}

/** What there is at this moment. */
export interface Concurrency {
  readonly requests: number
  readonly streams: number
  readonly bodyBytes: number
}

type Counts = { -readonly [Name in keyof Concurrency]: Concurrency[Name] }

export interface ConcurrencyLimiter {
  readonly process: MaxConcurrency
  readonly user: MaxConcurrency
}

/** Counts what requests take up, of all callers together and of each user. */
export class ConcurrencyCounts {
  readonly limits: ConcurrencyLimiter
  readonly all: Counts = none()
  readonly users = new Map<string, Counts>()
  /** Requests whose bodies are, or were, read without anybody knowing whose they are. */
  strangers = 0

  constructor(limits: ConcurrencyLimiter) {
    this.limits = limits
  }

  /** A request has come. Throws Problem 503 when there are too many, unless this one is exempt. */
  enter(request: Request, exempt: (request: Request) => boolean): CountedRequest {
    if (this.all.requests >= this.limits.process.maxRequests && !exempt(request)) throw busy()
    this.all.requests++
    const entered = new CountedRequest(this)
    countInFlight(request, entered)
    return entered
  }
}

/** One request. All that it has taken is given back when its answer has been made and, where that is a stream, has ended. */
export class CountedRequest implements InFlight {
  readonly #counts: ConcurrencyCounts
  #name = ''
  #user: Counts | undefined
  #bytes = 0
  #unsent = 0
  #answered = false
  #strange = false
  #streams = false

  constructor(counts: ConcurrencyCounts) {
    this.#counts = counts
  }

  identified(name: string): void {
    if (this.#user || this.#answered) return
    const { limits, users } = this.#counts
    const user = users.get(name) ?? none()
    if (user.requests >= limits.user.maxRequests) throw tooMany('requests')
    if (user.bodyBytes + this.#bytes > limits.user.maxUnreadBodyBytes) throw tooMany('bytes of bodies')
    if (this.#streams && user.streams >= limits.user.maxStreams) throw tooMany('streams')
    user.requests++
    user.bodyBytes += this.#bytes
    if (this.#streams) user.streams++
    users.set(name, user)
    this.#name = name
    this.#user = user
  }

  reading(bytes: number): void {
    const { limits, all } = this.#counts
    const user = this.#user
    if (user && user.bodyBytes + bytes > limits.user.maxUnreadBodyBytes) throw tooMany('bytes of bodies')
    if (all.bodyBytes + bytes > limits.process.maxUnreadBodyBytes) throw busy()
    // Too late to be given back.
    if (this.#answered && !this.#streams) return
    if (!user && !this.#strange && !this.#answered) {
      // Strangers who send slowly are not to keep users out.
      if (this.#counts.strangers >= limits.process.maxRequests / 4) throw busy()
      this.#counts.strangers++
      this.#strange = true
    }
    all.bodyBytes += bytes
    if (user) user.bodyBytes += bytes
    this.#bytes += bytes
  }

  streaming(): void {
    if (this.#streams || this.#answered) return
    const { limits, all } = this.#counts
    const user = this.#user
    if (user && user.streams >= limits.user.maxStreams) throw tooMany('streams')
    if (all.streams >= limits.process.maxStreams) throw busy()
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

  /** The answer has been made, or there will be none. */
  answered(): void {
    if (this.#answered) return
    this.#answered = true
    this.#counts.all.requests--
    if (this.#strange) this.#counts.strangers--
    if (this.#user) this.#user.requests--
    this.#release()
  }

  sending(bytes: number): void {
    if (!this.#answered) return
    const { limits, all, users } = this.#counts
    // The request may have been over, and its user have had nothing any more.
    const user = this.#user && (users.get(this.#name) ?? this.#user)
    if (user && user.bodyBytes + bytes > limits.user.maxUnreadBodyBytes) throw tooMany('bytes of bodies')
    if (all.bodyBytes + bytes > limits.process.maxUnreadBodyBytes) throw busy()
    all.bodyBytes += bytes
    this.#unsent += bytes
    this.#user = user
    if (!user) return
    user.bodyBytes += bytes
    users.set(this.#name, user)
  }

  sent(): void {
    this.#counts.all.bodyBytes -= this.#unsent
    if (this.#user) this.#user.bodyBytes -= this.#unsent
    this.#unsent = 0
    this.#forget()
  }

  #release(): void {
    if (!this.#answered || this.#streams) return
    this.#counts.all.bodyBytes -= this.#bytes
    if (this.#user) this.#user.bodyBytes -= this.#bytes
    this.#forget()
  }

  /** Who has nothing any more is not remembered. */
  #forget(): void {
    const user = this.#user
    const { users } = this.#counts
    if (!user || users.get(this.#name) !== user) return
    if (user.requests === 0 && user.streams === 0 && user.bodyBytes === 0) users.delete(this.#name)
  }
}

const none = (): Counts => ({ requests: 0, streams: 0, bodyBytes: 0 })

const soon = { headers: { 'retry-after': '1' } }
const tooMany = (what: string) =>
  new Problem(429, `too many ${what} at once`, { ...soon, event: { action: 'limit.reach', target: { kind: what } } })
const busy = () => new Problem(503, 'the server is busy', soon)
