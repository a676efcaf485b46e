import type { Background } from '../../shared/background/background.ts'
import type { LeaseStore } from '../../shared/background/lease-store.ts'
import type { VideoTaskCount } from '../store/pool.ts'
import type { VideoStatus } from '../tasks/statuses.ts'
import { createDispatcher } from './dispatch.ts'
import { createLateTasks } from './late-tasks.ts'
import { type PollContext, pollTasks } from './poll.ts'
import { registerPictures } from './register-pictures.ts'
import { type ClaimSettlement, settleClaims } from './settle.ts'

/** The work in the background. */
export interface Poller {
  /** A task was added: look at once. Without effect in a process that does not do the work. */
  wake(): void
  /** A callback has arrived: look soon. Any number of callbacks within a fifth of a second cause one poll. */
  wakeSoon(): void
}

export interface PollerOptions {
  readonly context: PollContext
  readonly leases: LeaseStore
  readonly background: Background
  readonly observe?: {
    readonly end?: ((status: VideoStatus) => void) | undefined
    readonly counts?: ((counts: readonly VideoTaskCount[]) => void) | undefined
  }
  /** How long tasks that have ended are kept, in milliseconds. */
  readonly keepMs: number
  /** Called when results are to be copied. */
  readonly onCopying?: () => void
}

/** Claims that one round settles. */
const maxClaims = 100
/** Tasks that one round ends because they have waited too long. */
const maxExpired = 100
/** Milliseconds from a callback to the poll. */
const callbackPauseMs = 200
/** Milliseconds between two rounds. A poll reads only tasks that are due. */
const roundMs = 1_000
const sweepEveryMs = 3_600_000
/** Whether the create call of a claim counts as failed. */
const isFailed = (settlement: ClaimSettlement | undefined): boolean =>
  settlement === 'waiting' || settlement === 'dropped'

/** Milliseconds between two counts of tasks. */
const countEveryMs = 5_000
/** Pools that are counted. */
const maxPools = 50

/** Rows that one transaction deletes. */
const maxSwept = 100
/** Such transactions of one round. */
const maxSweepSteps = 5
/** How long the store remembers what it has learnt of a pool that nobody uses. Milliseconds. */
const poolKeptMs = 7 * 86_400_000

/**
 * Polls the tasks of all processes, settles claims whose answers were lost, and submits waiting tasks. One process at a
 * time does it.
 *
 * A create call is never interrupted: its answer names a task that costs money.
 */
export const startPoller = ({
  context,
  leases,
  background,
  keepMs,
  onCopying,
  observe = {},
}: PollerOptions): Poller => {
  const { store, clock, log } = context
  const dispatcher = createDispatcher(context)
  const lateTasks = createLateTasks(context)
  const dispatched = { running: false, again: false }

  /** Create calls may take long, so that the next poll does not wait for them. */
  const dispatch = (during: AbortSignal): void => {
    dispatched.again = true
    if (dispatched.running) return
    dispatched.running = true
    void background.run(async () => {
      while (dispatched.again && !during.aborted) {
        dispatched.again = false
        await dispatcher
          .dispatch(during)
          .catch((err: unknown) => log.warn({ err }, 'waiting tasks could not be submitted'))
      }
      dispatched.running = false
    })
  }

  let registers = false
  /** Assets take long too. */
  const register = (during: AbortSignal): void => {
    if (registers || !(context.pictures || context.assets?.place)) return
    registers = true
    void background.run(async () => {
      const resumed = await registerPictures(context, during).catch((err: unknown) => {
        log.warn({ err }, 'pictures of tasks could not be registered')
        return false
      })
      registers = false
      if (resumed) dispatch(during)
    })
  }

  const attempt = async (step: string, work: () => Promise<unknown>): Promise<void> => {
    await work().catch((err: unknown) => {
      if (!background.signal.aborted) log.warn({ err, step }, 'a step of the background work has failed')
    })
  }

  let countedAt = Number.NEGATIVE_INFINITY
  const count = async (): Promise<void> => {
    const now = clock.now()
    if (!observe.counts || now < countedAt + countEveryMs) return
    countedAt = now
    observe.counts(await store.countVideoTasks(maxPools))
  }

  let sweptAt = Number.NEGATIVE_INFINITY
  const sweep = async (during: AbortSignal): Promise<void> => {
    const now = clock.now()
    if (now < sweptAt + sweepEveryMs) return
    let isMore = false
    // A few steps a round, so that running tasks do not wait for the removal of all old ones.
    const some = async (sweepSome: () => Promise<number>) => {
      for (let step = 0; step < maxSweepSteps; step++) if (during.aborted || (await sweepSome()) < maxSwept) return
      isMore = true
    }
    await attempt('sweep tasks', () => some(async () => (await store.sweepVideoTasks(now - keepMs, maxSwept)).length))
    await attempt('sweep requests', () => some(() => store.sweepVideoRequests(now, maxSwept)))
    await attempt('sweep pools', () => some(() => store.sweepVideoPools(now - poolKeptMs, maxSwept)))
    if (!isMore) sweptAt = now
  }

  const run = async (during: AbortSignal): Promise<undefined> => {
    dispatch(during)
    register(during)
    await attempt('poll', async () => {
      const moved = await pollTasks(context, during)
      if (moved.some(({ freed, overruns }) => freed || overruns)) dispatch(during)
      for (const { freed, task } of moved)
        if (freed) observe.end?.(task.phase === 'copying' ? 'succeeded' : task.status)
      if (moved.some(({ task }) => task.phase === 'copying')) onCopying?.()
    })
    await attempt('expire', () => store.expireWaitingVideoTasks(clock.now(), maxExpired))
    await attempt('settle', async () => {
      const claims = await store.unsettledVideoTasks(clock.now(), maxClaims)
      if (claims.length === 0) return
      const settled = await settleClaims(claims, context, during)
      for (const claim of claims) if (isFailed(settled.get(claim.id))) lateTasks.add(claim)
    })
    await attempt('late tasks', () => lateTasks.cancel(during))
    await attempt('count', count)
    await sweep(during)
  }

  const everyMs = Math.min(roundMs, context.pollMs)
  const lease = { store: leases, name: 'video-poller', clock }
  const { wake } = background.repeat({ run, everyMs, lease, log, failure: 'video tasks could not be polled' })
  let willWake = false
  return {
    wake,
    wakeSoon() {
      if (willWake) return
      willWake = true
      void background.sleep(callbackPauseMs, background.signal).then(() => {
        willWake = false
        wake()
      })
    },
  }
}
