import type { Log } from '../problem.ts'
import { delay, type Sleep } from './delay.ts'
import { Lease, type LeaseOptions } from './lease.ts'
import { within } from './within.ts'

/** Work that is done again and again. */
export interface Job {
  /**
   * Called after `firstMs`, and then again and again. Its signal aborts when the work must end or the lease is lost,
   * also after the call has resolved. Resolves with the milliseconds until the next call; undefined: `everyMs`. An
   * error is logged, and the next call is after `everyMs`.
   */
  readonly run: (signal: AbortSignal) => Promise<number | undefined>
  /** Time between the end of a call and the next one. Milliseconds. */
  readonly everyMs: number
  /** Time before the first call, for what is not urgent at the start of a server. Milliseconds, default: 0. */
  readonly firstMs?: number
  /** With it, only the process that has the lease does the work. Default: every process does. */
  readonly lease?: LeaseOptions
  readonly log: Log
  /** The log's message when a call has failed. */
  readonly failure: string
}

/** A job that goes on. */
export interface RunningJob {
  /**
   * Calls `run` now, or at once when the present call has ended. Without effect in a process that does not have the
   * lease.
   */
  wake(): void
}

/**
 * Owns the work that goes on without a request: it starts the work, ends it, and waits for its end. Plugins take it as
 * their option `background`; a process needs one.
 *
 * @example
 * const background = new Background()
 * const app = new Elysia().use(events({ store, identify, background }))
 * process.once('SIGTERM', () => background.stop())
 */
export class Background {
  readonly #ending = new AbortController()
  readonly #running = new Set<Promise<unknown>>()
  /** Waits. Its timers do not keep the process alive. */
  readonly sleep: Sleep

  /** @param options.sleep waits. Default: a timer, which does not keep the process alive. */
  constructor({ sleep = delay }: { readonly sleep?: Sleep } = {}) {
    this.sleep = sleep
  }

  /** Aborts when the work must end. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** Does work once. `stop` waits for it. Resolves and rejects like the work. */
  run<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const running = work(this.signal).finally(() => this.#running.delete(running))
    this.#running.add(running)
    return running
  }

  /** Does work again and again. */
  repeat(job: Job): RunningJob {
    const wake = { now: () => {} }
    void this.run((signal) => this.#loop(job, signal, wake))
    return { wake: () => wake.now() }
  }

  /**
   * Ends the work: aborts its signal, and waits for what cannot be interrupted, such as a call to the upstream that
   * creates something. May be called again.
   *
   * @param withinMs maximum time to wait. Milliseconds, default: no limit
   * @returns whether all work has ended
   */
  async stop(withinMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    this.#ending.abort()
    const ended = this.#ended()
    await (Number.isFinite(withinMs) ? within(ended, withinMs) : ended)
    return this.#running.size === 0
  }

  async #ended(): Promise<void> {
    // The end of some work may start other work.
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }

  async #loop(job: Job, signal: AbortSignal, wake: { now: () => void }): Promise<void> {
    const { run, everyMs, firstMs = 0, log, failure } = job
    const lease = job.lease && new Lease(job.lease, this.sleep)
    let woken = new AbortController()
    wake.now = () => woken.abort()
    // One listener: `AbortSignal.any` would add one to this long-lived signal in each round.
    const onEnd = () => {
      woken.abort()
      lease?.lose(signal.reason)
    }
    signal.addEventListener('abort', onEnd)
    if (firstMs > 0) await this.sleep(firstMs, woken.signal)
    while (!signal.aborted) {
      woken = new AbortController()
      let waitMs = everyMs
      try {
        const held = lease ? await lease.take() : signal
        if (!held) waitMs = Math.max(everyMs, lease?.everyMs ?? 0)
        else if (!signal.aborted) waitMs = (await (lease ? lease.during(run(held)) : run(held))) ?? everyMs
      } catch (err) {
        if (!signal.aborted) log.warn({ err }, failure)
      }
      await this.sleep(waitMs, woken.signal)
    }
    signal.removeEventListener('abort', onEnd)
    await lease?.release()
  }
}

/**
 * The option `background` of a plugin. `true`: the work goes on as long as the process. Undefined: this process does
 * none of it.
 */
export type BackgroundOption = Background | true | undefined

/** Reads the option. Throws TypeError for a wrong value. */
export const backgroundOf = (option: BackgroundOption): Background | undefined => {
  if (option === true) return new Background()
  // Not `instanceof`: a host may have a second copy of the package.
  if (option === undefined || (typeof option === 'object' && typeof option?.repeat === 'function')) return option
  throw new TypeError('background must be a Background or true')
}
