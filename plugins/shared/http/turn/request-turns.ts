import { setImmediate } from 'node:timers'
import { afterIo } from '../../background/turns.ts'
import type { Clock } from '../../clock.ts'
import { Problem } from '../../problem.ts'
import { Callers, type RequestCaller } from './callers.ts'
import { TurnQueue } from './turn-queue.ts'

/** Problem 503. One shared instance: it has no cause and no event. */
export const busy = new Problem(503, 'the server is busy', { headers: { 'retry-after': '1' } })

/** Options of `RequestTurns`. */
export interface RequestTurnsOptions {
  /** Default: `performance`. */
  readonly clock?: Pick<Clock, 'now'>
  /** Calls a function in the next turn of the event loop. Default `setImmediate`. */
  readonly inNextTurn?: (run: () => void) => void
  /** The same, for work that goes on for many turns. Default `afterIo`. */
  readonly afterIo?: (run: () => void) => void
}

interface WaitingRequest {
  readonly hasLeft: () => boolean
  /** @param problem why the request is not handled */
  end(problem?: Problem): void
}

/** A symbol property of the request: a WeakMap entry costs ten times as much. */
const begun = Symbol('begun')

type Begun = Request & { [begun]?: true }

/**
 * Turns of the event loop, each of which handles some requests and responses of upstreams only. Further ones wait, and
 * users take turns: a user who sends many requests delays mostly the own ones.
 */
export class RequestTurns {
  readonly #clock: Pick<Clock, 'now'>
  readonly #inNextTurn: (run: () => void) => void
  readonly #afterIo: (run: () => void) => void
  readonly #callers: Callers
  readonly #waiting = new TurnQueue<WaitingRequest>(maxWaiting)
  /**
   * Requests and responses of this turn, and perhaps of earlier ones: only each 32nd looks for the end of its turn,
   * because that costs an immediate.
   */
  #begun = 0
  /** Whether later ones must wait for the next turn. */
  #isFull = false
  /** Of this turn, although it was full. */
  #atOnce = 0
  #perTurn = maxPerTurn
  #turnAt = 0
  #shortUntil = 0
  #refused = 0

  constructor(options: RequestTurnsOptions = {}) {
    const { clock = performance } = options
    this.#clock = clock
    this.#inNextTurn = options.inNextTurn ?? setImmediate
    this.#afterIo = options.afterIo ?? afterIo
    this.#callers = new Callers(clock)
  }

  /** Number of requests that wait, with those whose callers have left. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Number of requests that were not handled because too many waited. */
  get refused(): number {
    return this.#refused
  }

  /**
   * Undefined if the request may be handled now, or has had its turn before. Otherwise wait: the promise resolves when
   * it may be, or with Problem 503 when it must not be.
   */
  begin(request: Begun | undefined, hasLeft: () => boolean): Promise<Problem | undefined> | undefined {
    if (request) {
      if (request[begun]) return undefined
      request[begun] = true
    }
    return this.next(request, hasLeft)
  }

  /** The same for each of several pieces of work of a request. */
  next(request: Request | undefined, hasLeft: () => boolean): Promise<Problem | undefined> | undefined {
    const caller = this.#isFull ? this.#callers.of(request) : undefined
    if (caller === undefined || this.#mayBeginAtOnce(caller)) return this.#count()
    return new Promise((end) => {
      const refused = this.#waiting.add(caller, { hasLeft, end })
      if (!refused) return
      this.#refused++
      refused.end(busy)
    })
  }

  /**
   * The same for the response of an upstream to a user's request: it comes before this user's requests that wait.
   * Without a user it does not wait: other requests may wait for it.
   */
  resume(userOf: () => string | undefined): Promise<unknown> | undefined {
    const user = this.#isFull ? userOf() : undefined
    if (user === undefined || this.#mayBeginAtOnce({ key: user, isUser: true })) return this.#count()
    return new Promise((end) => this.#waiting.resume(user, { hasLeft: hasNotLeft, end }))
  }

  /** The user of a request is known. */
  identified(request: Request, user: string): void {
    const credential = this.#callers.identified(request, user)
    if (credential !== undefined) this.#waiting.identified(credential, user)
  }

  #count(): undefined {
    if (++this.#begun < maxPerTurn || this.#isFull) return
    this.#isFull = true
    this.#turnAt = this.#clock.now()
    this.#inNextTurn(this.#beginNext)
  }

  /**
   * Whether the caller is a user who finds only others waiting. A few in each turn need not wait for the next one: to
   * read what others have sent meanwhile may take longer than all that a turn begins.
   */
  #mayBeginAtOnce(caller: RequestCaller): boolean {
    if (!this.#waiting.hasOnlyOthers(caller)) return false
    this.#shortUntil = this.#clock.now() + shortTurnsMs
    return caller.isUser && this.#atOnce++ < maxAtOnce
  }

  readonly #beginNext = (): void => {
    const now = this.#clock.now()
    if (now >= this.#shortUntil) this.#perTurn = maxPerTurn
    else if (now - this.#turnAt > longTurnMs) this.#perTurn = Math.max(minPerTurn, this.#perTurn >> 1)
    else if (this.#perTurn < maxPerTurn) this.#perTurn++
    this.#turnAt = now
    this.#atOnce = 0
    let left = 0
    for (this.#begun = 0; this.#begun < this.#perTurn && left < maxLeftPerTurn; ) {
      const next = this.#waiting.take()
      if (!next) break
      if (next.hasLeft()) {
        left++
        next.end(busy)
      } else {
        this.#begun++
        next.end()
      }
    }
    this.#isFull = !this.#waiting.isEmpty || this.#begun >= maxPerTurn
    if (this.#isFull) this.#afterIo(this.#beginNext)
  }
}

const hasNotLeft = () => false

/**
 * Requests and responses. Most requests of the default server take a fraction of a millisecond at once, in two parts:
 * until the upstream is called, and from its response on.
 */
const maxPerTurn = 32
const minPerTurn = 4
/** Of users who find only others waiting. */
const maxAtOnce = 4
/**
 * After a longer turn, the next one begins half as many: what arrives is not read before its end. Short turns make a
 * request 5 to 9 % more expensive, so turns are only short when a caller needs it.
 */
const longTurnMs = 1
/** For how long after a caller with nothing waiting has found others waiting. */
const shortTurnsMs = 10_000
/** Callers who have disconnected meanwhile: that costs little. */
const maxLeftPerTurn = 64
/** Requests that wait; of further ones, some of the caller with most are refused. A request takes some kilobytes. */
const maxWaiting = 4_096
