import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers'
import { letOtherThreadsRun } from '../../background/other-threads.ts'
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
  /** Called before the turns that follow what was begun at once. Default `letOtherThreadsRun`. */
  readonly letOthersRun?: () => void
}

/** A request, or another piece of work, that may have to wait for its turn. */
export interface WaitingForTurn {
  /** Whether its caller has disconnected. */
  readonly hasLeft: boolean
  /**
   * Called once, if it had to wait. It must begin the work in a microtask, as the code after a promise does: the work
   * that was taken before comes first.
   *
   * @param refusal why the request must not be handled
   */
  begin(refusal?: Problem): void
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
  readonly #letOthersRun: () => void
  readonly #callers: Callers
  readonly #waiting = new TurnQueue<WaitingForTurn>(maxWaiting)
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
  #letOthersRunUntil = 0
  #refused = 0

  constructor(options: RequestTurnsOptions = {}) {
    const { clock = performance } = options
    this.#clock = clock
    this.#inNextTurn = options.inNextTurn ?? setImmediate
    this.#afterIo = options.afterIo ?? afterIo
    this.#letOthersRun = options.letOthersRun ?? letOtherThreadsRun
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

  /** Whether the request may be handled now, or has had its turn before. Otherwise `waiting.begin` is called once. */
  mayBegin(request: Begun | undefined, waiting: WaitingForTurn): boolean {
    if (request) {
      if (request[begun]) return true
      request[begun] = true
    }
    return this.mayGoOn(request, waiting)
  }

  /** The same for each of several pieces of work of a request. */
  mayGoOn(request: Request | undefined, waiting: WaitingForTurn): boolean {
    const caller = this.#isFull ? this.#callers.of(request) : undefined
    if (caller === undefined || this.#mayBeginAtOnce(caller)) {
      this.#count()
      return true
    }
    const refused = this.#waiting.add(caller, waiting)
    if (refused) {
      this.#refused++
      refused.begin(busy)
    }
    return false
  }

  /**
   * For the response of an upstream to a user's request: undefined if it may be handled now, otherwise wait. It comes
   * before this user's requests that wait. Without a user it does not wait: other requests may wait for it.
   */
  resume(userOf: () => string | undefined): Promise<unknown> | undefined {
    const user = this.#isFull ? userOf() : undefined
    if (user === undefined || this.#mayBeginAtOnce({ key: user, isUser: true })) return this.#count()
    return new Promise((begin) => this.#waiting.resume(user, { hasLeft: false, begin }))
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
    this.#inNextTurn(this.#turn)
  }

  /**
   * Whether the caller is a user who finds only others waiting. A few in each turn need not wait for the next one: to
   * read what others have sent meanwhile may take longer than all that a turn begins.
   */
  #mayBeginAtOnce(caller: RequestCaller): boolean {
    if (!this.#waiting.hasOnlyOthers(caller)) return false
    const now = this.#clock.now()
    this.#shortUntil = now + shortTurnsMs
    if (!caller.isUser || this.#atOnce++ >= maxAtOnce) return false
    this.#letOthersRunUntil = now + letOthersRunMs
    return true
  }

  readonly #turn = (): void => outsideOfRequests(this.#beginNext)

  readonly #beginNext = (): void => {
    const now = this.#clock.now()
    if (now >= this.#shortUntil) this.#perTurn = maxPerTurn
    else if (now - this.#turnAt > longTurnMs) this.#perTurn = Math.max(minPerTurn, this.#perTurn >> 1)
    else if (this.#perTurn < maxPerTurn) this.#perTurn++
    if (now < this.#letOthersRunUntil) this.#letOthersRun()
    this.#turnAt = this.#clock.now()
    this.#atOnce = 0
    let left = 0
    for (this.#begun = 0; this.#begun < this.#perTurn && left < maxLeftPerTurn; ) {
      const next = this.#waiting.take()
      if (!next) break
      if (next.hasLeft) {
        left++
        next.begin(busy)
      } else {
        this.#begun++
        next.begin()
      }
    }
    this.#isFull = !this.#waiting.isEmpty || this.#begun >= maxPerTurn
    if (this.#isFull) this.#afterIo(this.#turn)
  }
}

/** The turn is due in the context of one request, and begins others. */
const outsideOfRequests = AsyncLocalStorage.snapshot()

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
/**
 * For how long after something was begun at once other threads are let run before each turn: about a time slice of the
 * system. While it lasts, the responses of upstreams arrive a few at a time, which makes each more expensive.
 */
const letOthersRunMs = 5
/** Callers who have disconnected meanwhile: that costs little. */
const maxLeftPerTurn = 64
/** Requests that wait; of further ones, some of the caller with most are refused. A request takes some kilobytes. */
const maxWaiting = 4_096
