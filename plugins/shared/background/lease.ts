import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../clock.ts'
import type { Sleep } from './delay.ts'
import type { LeaseStore } from './lease-store.ts'

/** Where a lease lies, and how long it lasts. */
export interface LeaseOptions {
  readonly store: LeaseStore
  readonly name: string
  /** How long the work rests when its process was killed. Milliseconds, default 6,000. */
  readonly leaseMs?: number
  readonly clock?: Pick<Clock, 'now'>
}

/** A named lease, which one process at a time has. */
export class Lease {
  readonly #holder = randomUUID()
  readonly #options: LeaseOptions
  readonly #sleep: Sleep
  readonly #clock: Pick<Clock, 'now'>
  readonly #leaseMs: number
  #until = 0
  /** As long as this process has the lease. */
  #held: AbortController | undefined

  constructor(options: LeaseOptions, sleep: Sleep) {
    const { clock = systemClock, leaseMs = 6_000 } = options
    this.#options = options
    this.#sleep = sleep
    this.#clock = clock
    this.#leaseMs = leaseMs
  }

  /** Time between two attempts to take or extend the lease. Milliseconds. */
  get everyMs(): number {
    return this.#leaseMs / 3
  }

  /**
   * Takes or extends the lease. Resolves with a signal that aborts when it is lost; undefined: another process has it.
   * Rejects when the store fails.
   */
  async take(): Promise<AbortSignal | undefined> {
    const { store, name } = this.#options
    const now = this.#clock.now()
    const end = now + this.#leaseMs
    const taken = await store.takeLease(name, this.#holder, now, end).catch((error: unknown) => {
      // A lease that is not extended still lasts until its end.
      if (this.#held && this.#clock.now() < this.#until) return undefined
      this.lose(error)
      throw error
    })
    if (taken === false) this.lose(new Error(`the lease ${name} is lost`))
    if (taken) {
      this.#until = end
      this.#held ??= new AbortController()
    }
    return this.#held?.signal
  }

  /** Extends the lease while the work goes on. */
  async during<Value>(work: Promise<Value>): Promise<Value> {
    const ended = new AbortController()
    const extended = this.#extend(ended.signal)
    try {
      return await work
    } finally {
      ended.abort()
      await extended
    }
  }

  /** Aborts the signal of the lease. */
  lose(reason: unknown): void {
    this.#held?.abort(reason)
    this.#held = undefined
  }

  /** Lets another process take the lease. Never rejects. */
  async release(): Promise<void> {
    await this.#options.store.releaseLease(this.#options.name, this.#holder).catch(() => {})
  }

  async #extend(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#sleep(this.everyMs, signal)
      if (!signal.aborted) await this.take().catch(() => {})
    }
  }
}
