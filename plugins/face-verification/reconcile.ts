import type { Background } from '../shared/background/background.ts'
import type { VerificationKind } from '../upstream-proxy/index.ts'
import type { FaceContext } from './context.ts'
import type { FaceDriver } from './drivers/driver.ts'

export interface ReconcileVerificationsOptions {
  /**
   * Tasks that this process polls in one second, at most. Default 1: the account's limit of 3 a second is shared with
   * all callers.
   */
  readonly perSecond?: number
  /** Longest time between two searches for due tasks. Milliseconds, default 5,000. */
  readonly everyMs?: number
  /** Age at which a task is deleted, whatever its status. Milliseconds, default 30 days. */
  readonly keepMs?: number
}

/** Due tasks that are read from the store at once. */
const batchSize = 20
/** Polls of this process at once. */
const maxAtOnce = 8
const cleanupIntervalMs = 3_600_000
/** Rows that one round deletes. */
const maxDeleted = 1_000

/**
 * Polls due tasks, and deletes old ones. Starts at once, with what other processes have left.
 *
 * A verification therefore completes also when the user has closed the tab, the callback was lost, or a process has
 * ended.
 */
export const reconcileVerifications = (
  { store, clock, log }: Pick<FaceContext, 'store' | 'clock' | 'log'>,
  kind: VerificationKind,
  poll: FaceDriver['poll'],
  background: Background,
  { perSecond = 1, everyMs = 5_000, keepMs = 30 * 86_400_000 }: ReconcileVerificationsOptions = {},
): void => {
  let cleanedUpAt = Number.NEGATIVE_INFINITY
  const running = new Set<Promise<void>>()

  const cleanUp = async (): Promise<void> => {
    if (clock.now() < cleanedUpAt + cleanupIntervalMs) return
    // One step a round, so that what is due does not wait for the removal of all that is old.
    if ((await store.deleteVerifications(clock.now() - keepMs, maxDeleted)) < maxDeleted) cleanedUpAt = clock.now()
  }

  const startPoll = (id: string, signal: AbortSignal): void => {
    const polled: Promise<void> = background
      .run(() => poll(id, signal))
      .then(() => {})
      .catch((err: unknown) => {
        if (!signal.aborted) log.warn({ err, verification: id }, 'face verification could not be polled')
      })
      .finally(() => running.delete(polled))
    running.add(polled)
  }

  background.repeat({
    ...{ everyMs, log, failure: 'due face verifications could not be read' },
    async run(signal) {
      await cleanUp()
      for (const id of await store.dueVerifications(kind, clock.now(), batchSize)) {
        // A poll whose response does not come does not delay the next one.
        if (running.size >= maxAtOnce) await Promise.race(running)
        startPoll(id, signal)
        await background.sleep(1000 / perSecond, signal)
        if (signal.aborted) return everyMs
      }
      const due = (await store.nextVerificationDue(kind)) ?? Number.POSITIVE_INFINITY
      return Math.min(everyMs, Math.max(1000 / perSecond, due - clock.now()))
    },
  })
}
