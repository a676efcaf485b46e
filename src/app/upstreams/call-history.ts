import type { Clock } from '../../../plugins/shared/clock.ts'

/** What is known of the calls to one upstream, from the calls of this process. Times are milliseconds since 1970. */
export interface CallReport {
  readonly state: UpstreamCallState
  /** Since when it has this state. Undefined: it was not called yet. */
  readonly since?: number
  /** The last call that failed. Status 0: there was no response. */
  readonly lastError?: { readonly at: number; readonly status: number }
  /** Calls in the last minute, and those of them that failed. */
  readonly calls: number
  readonly errors: number
}

/** The best first. */
export const callStates = ['reachable', 'not called yet', "rejects the gateway's key", 'unreachable'] as const
export type UpstreamCallState = (typeof callStates)[number]

/** A call that has ended. Status 0: there was no response. */
export interface ObservedCall {
  readonly status: number
  readonly keyRejected: boolean
}

const seconds = 60

/** Keeps the state of an upstream, and counts its calls of the last minute, in 60 counters. */
export class CallHistory {
  readonly #clock: Pick<Clock, 'now'>
  readonly #second = new Float64Array(seconds)
  readonly #calls = new Uint32Array(seconds)
  readonly #errors = new Uint32Array(seconds)
  #state: UpstreamCallState = 'not called yet'
  #since: number | undefined
  #lastError: CallReport['lastError']

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  get state(): UpstreamCallState {
    return this.#state
  }

  add({ status, keyRejected }: ObservedCall): void {
    const now = this.#clock.now()
    const state = status === 0 ? 'unreachable' : keyRejected ? "rejects the gateway's key" : 'reachable'
    if (state !== this.#state) this.#since = now
    this.#state = state
    const second = Math.floor(now / 1_000)
    const at = second % seconds
    if (this.#second[at] !== second) {
      this.#second[at] = second
      this.#calls[at] = 0
      this.#errors[at] = 0
    }
    this.#calls[at] = (this.#calls[at] ?? 0) + 1
    if (state === 'reachable' && status < 500) return
    this.#errors[at] = (this.#errors[at] ?? 0) + 1
    this.#lastError = { at: now, status }
  }

  report(): CallReport {
    const oldest = Math.floor(this.#clock.now() / 1_000) - seconds + 1
    let [calls, errors] = [0, 0]
    for (let at = 0; at < seconds; at++) {
      if ((this.#second[at] ?? 0) < oldest) continue
      calls += this.#calls[at] ?? 0
      errors += this.#errors[at] ?? 0
    }
    return {
      state: this.#state,
      ...(this.#since !== undefined && { since: this.#since }),
      ...(this.#lastError && { lastError: this.#lastError }),
      ...{ calls, errors },
    }
  }
}
