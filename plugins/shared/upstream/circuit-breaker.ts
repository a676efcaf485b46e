import { type Clock, systemClock } from '../clock.ts'
import { checkAbove0 } from '../plugin/options.ts'
import type { Fetch } from './upstream-error.ts'

/** Options of `createCircuitBreakers`. */
export interface CircuitBreakerOptions {
  /** Failed connections in a row that open a circuit. Default 5. */
  readonly failures?: number
  /** Calls of a window from which their share of failures counts. Default 20. */
  readonly calls?: number
  /** Share of failed calls of a window that opens a circuit, from 0 to 1. Default 0.5. */
  readonly ratio?: number
  /** Length of a window in milliseconds. Default 10,000. */
  readonly windowMs?: number
  /**
   * Milliseconds for which a circuit opens first. Each failed probe doubles them, up to `maxOpenMs`. Defaults 1,000 and
   * 4,000: so an upstream that is back is used within five seconds.
   */
  readonly openMs?: number
  readonly maxOpenMs?: number
  /** Default: the system clock. */
  readonly clock?: Pick<Clock, 'now'>
}

/** `open`: calls fail at once. `half-open`: one call at a time tries whether the upstream is back. */
export type CircuitState = 'closed' | 'open' | 'half-open'

/** Circuit breakers, one for each upstream and action. */
export interface CircuitBreakers {
  /**
   * A `fetch` that fails at once, with `CircuitOpenError`, while the circuit of the upstream and action is open. A call
   * fails if it gets no response, or status 502, 503 or 504. One that its client has left does not count.
   */
  wrap(fetch: Fetch): Fetch
  /** How many circuits have each state, and how many calls have failed at once, since the start. */
  counts(): Readonly<Record<CircuitState, number>> & { readonly refused: number }
}

/** The upstream was not called: its circuit is open. */
export class CircuitOpenError extends Error {
  constructor() {
    super('the upstream has failed repeatedly, and is tried again in a moment')
    this.name = 'CircuitOpenError'
  }
}

/**
 * Creates circuit breakers: while an upstream fails, callers get their error at once, and hold nothing until a timeout.
 * As it closes within seconds, no failed call is repeated.
 *
 * Throws TypeError for an option that is not above 0.
 *
 * @example
 * const circuits = createCircuitBreakers()
 * const upstream = createUpstream({ kind, fetch: circuits.wrap(fetch) })
 */
export const createCircuitBreakers = (options: CircuitBreakerOptions = {}): CircuitBreakers => {
  const { failures = 5, calls = 20, ratio = 0.5, windowMs = 10_000, openMs = 1_000, maxOpenMs = 4_000 } = options
  checkAbove0({ failures, calls, ratio, windowMs, openMs, maxOpenMs })
  const rules = { failures, calls, ratio, windowMs, openMs, maxOpenMs, clock: options.clock ?? systemClock }
  const circuits = new Map<string, Circuit>()
  /** By the whole address, of each method: to find the action of one takes longer. */
  const byAddress = new Map<string, Map<string, Circuit>>()
  let refused = 0

  const circuitOf = (method: string, url: string): Circuit => {
    const known = byAddress.get(method) ?? new Map<string, Circuit>()
    const found = known.get(url)
    if (found) return found
    const key = actionOf(url, method)
    // No upstream has so many actions: paths with words of callers in them.
    if (circuits.size >= maxCircuits) {
      circuits.clear()
      byAddress.clear()
    }
    byAddress.set(method, known)
    const circuit = circuits.get(key) ?? new Circuit(rules)
    circuits.set(key, circuit)
    if (known.size >= maxCircuits) known.clear()
    known.set(url, circuit)
    return circuit
  }

  return {
    wrap: (fetch) => (url, init) => {
      const circuit = circuitOf(init.method ?? 'GET', url)
      const isProbe = circuit.isOpen
      if (isProbe && !circuit.beginProbe()) {
        refused++
        return Promise.reject(new CircuitOpenError())
      }
      return fetch(url, init).then(
        (response) => {
          circuit.end(failedStatuses.has(response.status) ? 'failed' : 'succeeded', isProbe)
          return response
        },
        (error: unknown) => {
          circuit.end(isLeft(init.signal) ? 'left' : 'unreachable', isProbe)
          throw error
        },
      )
    },

    counts() {
      const counts = { closed: 0, open: 0, 'half-open': 0, refused }
      for (const circuit of circuits.values()) counts[circuit.state]++
      return counts
    },
  }
}

const maxCircuits = 1_000

/** Statuses of a server that does not reach the one behind it, or has no room. */
const failedStatuses: ReadonlySet<number> = new Set([502, 503, 504])

/** Whether the client has left. A time limit aborts with a TimeoutError, and counts as a failure. */
const isLeft = (signal: AbortSignal | null | undefined): boolean =>
  signal?.aborted === true && !(signal.reason instanceof Error && signal.reason.name === 'TimeoutError')

/** The method, the path without ids, and the action of a signed call. Ids of upstreams contain digits. */
const actionOf = (url: string, method: string): string => {
  const query = url.indexOf('?')
  const path = query < 0 ? url : url.slice(0, query)
  const action = query < 0 ? undefined : /[?&]Action=(\w+)/.exec(url)?.[1]
  const hostEnd = path.indexOf('/', path.indexOf('://') + 3)
  if (hostEnd < 0) return `${method} ${path}`
  return `${method} ${path.slice(0, hostEnd)}${path.slice(hostEnd).replace(/[^/]*\d[^/]*/g, '*')} ${action ?? ''}`
}

type Rules = Required<CircuitBreakerOptions>

/** How a call has ended. `unreachable`: there was no response. `left`: its client has left. */
type CallEnd = 'succeeded' | 'failed' | 'unreachable' | 'left'

/** The circuit of one upstream and action. */
class Circuit {
  readonly #rules: Rules
  #unreachableInARow = 0
  #windowEnd = 0
  #calls = 0
  #failed = 0
  /** When the next probe may be sent. Undefined: the circuit is closed. */
  #openUntil: number | undefined
  #openMs = 0
  #isProbing = false

  constructor(rules: Rules) {
    this.#rules = rules
  }

  get isOpen(): boolean {
    return this.#openUntil !== undefined
  }

  get state(): CircuitState {
    if (this.#openUntil === undefined) return 'closed'
    return this.#rules.clock.now() < this.#openUntil ? 'open' : 'half-open'
  }

  /** Begins the one call that tries whether the upstream is back. False: it is too early, or one is in progress. */
  beginProbe(): boolean {
    if (this.#isProbing || this.#rules.clock.now() < (this.#openUntil ?? 0)) return false
    this.#isProbing = true
    return true
  }

  end(how: CallEnd, isProbe: boolean): void {
    if (isProbe) this.#endProbe(how)
    // The calls of before the circuit opened tell nothing new.
    else if (how !== 'left' && !this.isOpen) this.#endCall(how)
  }

  #endCall(how: CallEnd): void {
    this.#unreachableInARow = how === 'unreachable' ? this.#unreachableInARow + 1 : 0
    this.#count(how !== 'succeeded')
    if (how === 'succeeded') return
    const { failures, calls, ratio, openMs } = this.#rules
    const hasFailed = this.#calls >= calls && this.#failed >= ratio * this.#calls
    if (hasFailed || this.#unreachableInARow >= failures) this.#open(openMs)
  }

  #endProbe(how: CallEnd): void {
    this.#isProbing = false
    if (how === 'failed' || how === 'unreachable') this.#open(Math.min(2 * this.#openMs, this.#rules.maxOpenMs))
    if (how !== 'succeeded') return
    this.#openUntil = undefined
    this.#unreachableInARow = 0
    this.#windowEnd = 0
  }

  #open(ms: number): void {
    this.#openMs = ms
    this.#openUntil = this.#rules.clock.now() + ms
  }

  #count(isFailure: boolean): void {
    const now = this.#rules.clock.now()
    if (now >= this.#windowEnd) {
      this.#windowEnd = now + this.#rules.windowMs
      this.#calls = 0
      this.#failed = 0
    }
    this.#calls++
    if (isFailure) this.#failed++
  }
}
