import { type Clock, systemClock } from '../clock.ts'
import { checkAbove0 } from '../plugin/options.ts'
import { type Log, noLog } from '../problem.ts'
import { CircuitOpenError, type Fetch } from './upstream-error.ts'

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
   * Milliseconds without any response after which a circuit opens, while at least `calls` calls wait for one. Default
   * 30,000. So callers without a time limit of their own, such as those of streams, do not pile up before an upstream
   * that has stopped.
   */
  readonly silentMs?: number
  /**
   * Milliseconds for which a circuit opens first. Each failed probe doubles them, up to `maxOpenMs`. Defaults 1,000 and
   * 4,000: so an upstream that is back is used within five seconds.
   */
  readonly openMs?: number
  readonly maxOpenMs?: number
  /**
   * Milliseconds since the begin of a probe for which further calls wait for its end, instead of failing. Default
   * 1,000. So callers of an upstream that is back see no error, even if they come together; and callers of one that
   * hangs hold nothing for longer.
   */
  readonly probeWaitMs?: number
  /** Default: the system clock. */
  readonly clock?: Clock
  /** Receives a warning when a circuit opens, and a line when it closes. Default: nothing. */
  readonly log?: Log
}

/**
 * `open`: calls fail at once. `half-open`: one call at a time tries whether the upstream is back, and the others wait
 * for it for a moment.
 */
export type CircuitState = 'closed' | 'open' | 'half-open'

/** Circuit breakers, one for each upstream and action. */
export interface CircuitBreakers {
  /**
   * A `fetch` that fails at once, with `CircuitOpenError`, while the circuit of the upstream and action is open, and at
   * most `probeWaitMs` later while it is half-open. A call fails if it gets no response, or status 502, 503 or 504. One
   * that its client has left does not count.
   *
   * @param account tells the circuits of several accounts at one address apart. Default: an address has one account
   */
  wrap(fetch: Fetch, account?: string): Fetch
  /** How many circuits have each state, and how many calls were not sent, since the start. */
  counts(): Readonly<Record<CircuitState, number>> & { readonly refused: number }
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
  const { failures = 5, calls = 20, ratio = 0.5, windowMs = 10_000 } = options
  const { silentMs = 30_000, openMs = 1_000, maxOpenMs = 4_000, probeWaitMs = 1_000 } = options
  const { clock = systemClock, log = noLog } = options
  checkAbove0({ failures, calls, ratio, windowMs, silentMs, openMs, maxOpenMs, probeWaitMs })
  const rules = { failures, calls, ratio, windowMs, silentMs, openMs, maxOpenMs, probeWaitMs, clock, log }
  const circuits = new Map<string, Circuit>()
  let refused = 0
  /** The latest call, because most calls that generate text have the address of the one before. */
  let latest: Readonly<{ account: string | undefined; method: string; url: string; circuit: Circuit }> | undefined

  const circuitOf = (account: string | undefined, method: string, url: string): Circuit => {
    if (latest && latest.url === url && latest.method === method && latest.account === account) return latest.circuit
    const circuit = findCircuit(account, method, url)
    latest = { account, method, url, circuit }
    return circuit
  }

  const findCircuit = (account: string | undefined, method: string, url: string): Circuit => {
    const ofUpstream = actionOf(method, url)
    const action = account === undefined ? ofUpstream : `${account} ${ofUpstream}`
    const found = circuits.get(action)
    if (found) return found
    // No upstream has so many actions: paths with words of callers in them.
    if (circuits.size >= maxCircuits) circuits.clear()
    const circuit = new Circuit(action, rules)
    circuits.set(action, circuit)
    return circuit
  }

  const call = (fetch: Fetch, circuit: Circuit, url: string, init: RequestInit): Promise<Response> => {
    const how = circuit.begin()
    if (how === 'waits') return probeEnd(circuit, init.signal).then(() => call(fetch, circuit, url, init))
    if (how === 'refused') {
      refused++
      return Promise.reject(new CircuitOpenError(circuit.retrySeconds))
    }
    const isProbe = how === 'probe'
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
  }

  return {
    wrap: (fetch, account) => (url, init) => call(fetch, circuitOf(account, init.method ?? 'GET', url), url, init),

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

/** Resolves when the probe of a circuit need not be waited for any longer. Rejects when the signal aborts before. */
const probeEnd = (circuit: Circuit, signal: AbortSignal | null | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const leave = () => {
      cancel()
      // At a time limit, the caller is to know that nothing was sent.
      reject(isLeft(signal) ? signal?.reason : new CircuitOpenError(circuit.retrySeconds))
    }
    const cancel = circuit.onProbeEnd(() => {
      signal?.removeEventListener('abort', leave)
      resolve()
    })
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave, { once: true })
  })

/** Whether the client has left. A time limit aborts with a TimeoutError, and counts as a failure. */
const isLeft = (signal: AbortSignal | null | undefined): boolean =>
  signal?.aborted === true && !(signal.reason instanceof Error && signal.reason.name === 'TimeoutError')

/**
 * The method, the path without ids, and the action of a signed call. Ids of upstreams contain digits. It runs for each
 * call, and nearly each has another address: a cache by address would only keep memory.
 */
const actionOf = (method: string, url: string): string => {
  const query = url.indexOf('?')
  const end = query < 0 ? url.length : query
  let action = `${method} `
  /** All before it is in `action`. */
  let copied = 0
  let segment = url.indexOf('/', url.indexOf('://') + 3)
  while (segment >= 0 && segment < end) {
    const slash = url.indexOf('/', segment + 1)
    const next = slash < 0 ? end : Math.min(slash, end)
    if (hasDigit(url, segment + 1, next)) {
      action += `${url.slice(copied, segment)}/*`
      copied = next
    }
    segment = next
  }
  action += url.slice(copied, end)
  const signed = query < 0 ? null : /[?&]Action=(\w+)/.exec(url)
  return signed ? `${action} ${signed[1]}` : action
}

const hasDigit = (text: string, from: number, to: number): boolean => {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) return true
  }
  return false
}

type Rules = Required<CircuitBreakerOptions>

/** How a call has ended. `unreachable`: there was no response. `left`: its client has left. */
type CallEnd = 'succeeded' | 'failed' | 'unreachable' | 'left'

/** The circuit of one upstream and action. Of this process: others find out for themselves, with five calls each. */
class Circuit {
  readonly #name: string
  readonly #rules: Rules
  #unreachableInARow = 0
  #windowEnd = 0
  #calls = 0
  #failed = 0
  /** Calls without a response. */
  #waiting = 0
  /** Since when at least `calls` of them wait, and none has got a response. */
  #silentSince = 0
  /** Until when no call is sent. Undefined: the circuit is closed. */
  #openUntil: number | undefined
  #openMs = 0
  /** Until when the response to a probe is waited for, before another one is sent. */
  #probingUntil = 0
  /** Until when further calls wait for the end of the probe. */
  #waitUntil = 0
  /** What runs when the probe has ended, or has taken too long to wait for it. */
  readonly #onProbeEnd = new Set<() => void>()
  #cancelWait = () => {}
  #isSilent = false

  constructor(name: string, rules: Rules) {
    this.#name = name
    this.#rules = rules
  }

  get state(): CircuitState {
    if (this.#openUntil === undefined) return 'closed'
    return this.#rules.clock.now() < this.#openUntil ? 'open' : 'half-open'
  }

  /** Seconds after which a call that is refused now may be sent. */
  get retrySeconds(): number {
    const next = Math.max(this.#openUntil ?? 0, this.#probingUntil)
    return Math.max(1, Math.ceil((next - this.#rules.clock.now()) / 1_000))
  }

  /** Whether a call is sent. `probe`: it tries whether the upstream is back. `waits`: ask again after `onProbeEnd`. */
  begin(): 'sent' | 'probe' | 'waits' | 'refused' {
    if (this.#openUntil === undefined && this.#waiting >= this.#rules.calls) this.#checkSilence()
    if (this.#openUntil !== undefined) {
      const { clock, maxOpenMs, probeWaitMs } = this.#rules
      const now = clock.now()
      if (now < this.#openUntil) return 'refused'
      if (now < this.#probingUntil) return now < this.#waitUntil ? 'waits' : 'refused'
      // A probe may get no response until its time limit, long after the upstream is back.
      this.#probingUntil = now + maxOpenMs
      this.#waitUntil = now + probeWaitMs
      return 'probe'
    }
    if (++this.#waiting === this.#rules.calls) this.#silentSince = this.#rules.clock.now()
    return 'sent'
  }

  end(how: CallEnd, isProbe: boolean): void {
    if (!isProbe) this.#waiting--
    if (this.#openUntil === undefined) {
      // A probe of before the circuit closed tells nothing new.
      if (how !== 'left' && !isProbe) this.#endCall(how)
    } else if (isProbe) this.#endProbe(how)
    // Of the calls of before the circuit opened, only those that show that the upstream is not silent tell something.
    else if (this.#isSilent && how === 'succeeded') this.#close()
  }

  /** Calls `run` once, when a call that waits has to ask again. Returns a function that cancels. */
  onProbeEnd(run: () => void): () => void {
    if (this.#onProbeEnd.size === 0) this.#cancelWait = this.#rules.clock.at(this.#waitUntil, () => this.#endWait())
    this.#onProbeEnd.add(run)
    return () => {
      this.#onProbeEnd.delete(run)
      if (this.#onProbeEnd.size === 0) this.#cancelWait()
    }
  }

  #endWait(): void {
    this.#cancelWait()
    const waiting = [...this.#onProbeEnd]
    this.#onProbeEnd.clear()
    for (const run of waiting) run()
  }

  #endCall(how: Exclude<CallEnd, 'left'>): void {
    const now = this.#rules.clock.now()
    if (how !== 'unreachable') this.#silentSince = now
    this.#unreachableInARow = how === 'unreachable' ? this.#unreachableInARow + 1 : 0
    this.#count(how !== 'succeeded', now)
    if (how === 'succeeded') return
    const { failures, calls, ratio } = this.#rules
    if (this.#unreachableInARow >= failures) this.#open(`${failures} calls in a row got no response`)
    else if (this.#calls >= calls && this.#failed >= ratio * this.#calls)
      this.#open(`${this.#failed} of ${this.#calls} calls have failed`)
  }

  #endProbe(how: CallEnd): void {
    this.#probingUntil = 0
    if (how === 'succeeded') this.#close()
    else {
      if (how !== 'left') this.#openFor(Math.min(2 * this.#openMs, this.#rules.maxOpenMs))
      this.#endWait()
    }
  }

  #checkSilence(): void {
    const { clock, silentMs } = this.#rules
    if (clock.now() - this.#silentSince < silentMs) return
    this.#isSilent = true
    this.#open(`${this.#waiting} calls have got no response for ${silentMs} ms`)
  }

  #open(reason: string): void {
    this.#rules.log.warn({ circuit: this.#name, reason }, 'calls to an upstream fail at once until it responds again')
    this.#probingUntil = 0
    this.#openFor(this.#rules.openMs)
  }

  #openFor(ms: number): void {
    this.#openMs = ms
    this.#openUntil = this.#rules.clock.now() + ms
  }

  #close(): void {
    this.#rules.log.info({ circuit: this.#name }, 'calls to an upstream are sent again')
    this.#openUntil = undefined
    this.#isSilent = false
    this.#silentSince = this.#rules.clock.now()
    this.#unreachableInARow = 0
    this.#windowEnd = 0
    this.#endWait()
  }

  #count(isFailure: boolean, now: number): void {
    if (now >= this.#windowEnd) {
      this.#windowEnd = now + this.#rules.windowMs
      this.#calls = 0
      this.#failed = 0
    }
    this.#calls++
    if (isFailure) this.#failed++
  }
}
