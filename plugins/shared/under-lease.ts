import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from './clock.ts'
import { delay } from './delay.ts'
import type { LeaseStore } from './lease-store.ts'
import type { Log } from './problem.ts'

export interface UnderLeaseOptions {
  readonly store: LeaseStore
  /** Name of the lease. */
  readonly name: string
  /**
   * The job. It is called again and again in the process that has the lease. Its signal aborts when the loop ends or the lease is lost, also after the job
   * has resolved. Resolves with the milliseconds until the next call; undefined: `everyMs`.
   */
  readonly run: (signal: AbortSignal) => Promise<number | undefined>
  /** Ends the loop. */
  readonly signal: AbortSignal
  readonly log: Log
  readonly clock?: Pick<Clock, 'now'>
  /** Time between two calls. Milliseconds, default 1,000. */
  readonly everyMs?: number
  /** Length of the lease: how long the job rests when its process was killed. Milliseconds, default 6,000. */
  readonly leaseMs?: number
  /** Waits. Default: a timer, which does not keep the process alive. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** A loop under a lease. */
export interface UnderLease {
  /** Runs the job soon, if this process has the lease. */
  wake(): void
  /** Resolves when the loop has ended and released the lease. */
  readonly ended: Promise<void>
}

/**
 * Runs a job in one process at a time: the one that has the lease. The others try to take it, so one of them continues when that process has ended.
 *
 * The job must still be correct when two processes run it at once: a suspended process does not notice that its lease has ended.
 * Never rejects: an error of the job or of the store is logged, and the loop goes on.
 */
export const runUnderLease = ({
  store,
  name,
  run,
  signal,
  log,
  clock = systemClock,
  everyMs = 1_000,
  leaseMs = 6_000,
  sleep = delay,
}: UnderLeaseOptions): UnderLease => {
  const holder = randomUUID()
  let until = 0
  let woken = new AbortController()
  /** As long as this process has the lease. */
  let held: AbortController | undefined

  const lose = (reason: unknown): void => {
    held?.abort(reason)
    held = undefined
  }

  const take = async (): Promise<AbortController | undefined> => {
    const end = clock.now() + leaseMs
    const taken = await store.takeLease(name, holder, clock.now(), end).catch((error: unknown) => {
      // A lease that is not extended still lasts until its end.
      if (held && clock.now() < until) return undefined
      lose(error)
      throw error
    })
    if (taken === false) lose(new Error(`the lease ${name} is lost`))
    if (!taken) return held
    until = end
    held ??= new AbortController()
    return held
  }

  /** Extends the lease while the job runs. */
  const extend = async (job: AbortSignal): Promise<void> => {
    while (!job.aborted) {
      await sleep(leaseMs / 3, job)
      if (!job.aborted) await take().catch(() => {})
    }
  }

  const runOnce = async ({ signal: lease }: AbortController): Promise<number | undefined> => {
    const job = new AbortController()
    const extended = extend(job.signal)
    try {
      return await run(lease)
    } finally {
      job.abort()
      await extended
    }
  }

  const loop = async (): Promise<void> => {
    // One listener: `AbortSignal.any` would add one to this long-lived signal in each round.
    signal.addEventListener('abort', () => {
      woken.abort()
      lose(signal.reason)
    })
    while (!signal.aborted) {
      woken = new AbortController()
      let waitMs = everyMs
      try {
        const lease = await take()
        if (!lease) waitMs = Math.max(everyMs, leaseMs / 3)
        else if (!signal.aborted) waitMs = (await runOnce(lease)) ?? everyMs
      } catch (err) {
        if (!signal.aborted) log.warn({ err, lease: name }, 'a job failed, and is tried again')
      }
      await sleep(waitMs, woken.signal)
    }
    await store.releaseLease(name, holder).catch(() => {})
  }

  return { wake: () => woken.abort(), ended: loop() }
}
