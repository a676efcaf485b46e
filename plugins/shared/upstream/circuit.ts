import type { Clock } from '../clock.ts'
import type { Log } from '../problem.ts'

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

/** How a call has ended. `unreachable`: there was no response. `left`: its client has left. */
type CallEnd = 'succeeded' | 'failed' | 'unreachable' | 'left'

/** The circuit of one upstream and action. Of this process: others find out for themselves, with five calls each. */
export class Circuit {
  readonly #name: string
  readonly #rules: Required<CircuitBreakerOptions>
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

  constructor(name: string, rules: Required<CircuitBreakerOptions>) {
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
