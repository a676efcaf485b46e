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
   * The job. It is called again and again in the process that has the lease. Its signal aborts when the loop ends or the lease is lost. Resolves with
   * the milliseconds until the next call; undefined: `everyMs`.
   */
  readonly run: (signal: AbortSignal) => Promise<number | undefined>
  /** Ends the loop. */
  readonly signal: AbortSignal
  readonly log: Log
  readonly clock?: Pick<Clock, 'now'>
  /** Time between two calls. Milliseconds, default 1,000. */
  readonly everyMs?: number
  /** Length of the lease: how long the job rests when its process was killed. Milliseconds, default 15,000. */
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
  leaseMs = 15_000,
  sleep = delay,
}: UnderLeaseOptions): UnderLease => {
  const holder = randomUUID()
  let until = 0
  let woken = new AbortController()

  const take = async (): Promise<boolean> => {
    const end = clock.now() + leaseMs
    const taken = await store.takeLease(name, holder, clock.now(), end)
    if (taken) until = end
    return taken
  }

  /** Extends the lease until the job has ended. Aborts the job when the lease is lost. */
  const extend = async (job: AbortController): Promise<void> => {
    for (;;) {
      await sleep(leaseMs / 3, job.signal)
      if (job.signal.aborted) return
      const kept = await take().catch(() => clock.now() < until)
      if (!kept) job.abort(new Error(`the lease ${name} is lost`))
    }
  }

  const runOnce = async (): Promise<number | undefined> => {
    const job = new AbortController()
    const end = () => job.abort(signal.reason)
    signal.addEventListener('abort', end)
    const extended = extend(job)
    try {
      return await run(job.signal)
    } finally {
      signal.removeEventListener('abort', end)
      job.abort()
      await extended
    }
  }

  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      woken = new AbortController()
      let waitMs = everyMs
      try {
        if (!(await take())) waitMs = Math.max(everyMs, leaseMs / 3)
        else if (!signal.aborted) waitMs = (await runOnce()) ?? everyMs
      } catch (err) {
        if (!signal.aborted) log.warn({ err, lease: name }, 'a job failed, and is tried again')
      }
      await sleep(waitMs, AbortSignal.any([signal, woken.signal]))
    }
    await store.releaseLease(name, holder).catch(() => {})
  }

  return { wake: () => woken.abort(), ended: loop() }
}
