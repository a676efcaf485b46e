import { pause } from '../shared/pause.ts'
import type { FaceContext } from './context.ts'
import type { FaceDriver } from './driver.ts'
import type { VerificationKind } from './store.ts'

export interface ReconcileVerificationsOptions {
  /** Tasks that are looked at in a second, at most, by this process. Default 1: the account's limit of 3 is for everybody. */
  readonly perSecond?: number
  /** Longest time between two searches for tasks that are due. Milliseconds, default 5,000. */
  readonly everyMs?: number
  /** After so long a task is forgotten, whatever it came to. Milliseconds, default 30 days. */
  readonly keepMs?: number
  /** Default: real time, which keeps no process alive. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

const atOnce = 20
const sweepMs = 3_600_000

/**
 * Looks after tasks that nobody asks about: at once, whenever one is due, and after a restart where another process left off, until the signal. So nobody
 * loses a verification because a tab was closed, a callback got lost, or a process ended. Never rejects: what fails is logged and comes up again.
 */
export const reconcileVerifications = async (
  { store, clock, log }: Pick<FaceContext, 'store' | 'clock' | 'log'>,
  kind: VerificationKind,
  look: FaceDriver['look'],
  signal: AbortSignal,
  { perSecond = 1, everyMs = 5_000, keepMs = 30 * 86_400_000, sleep = pause }: ReconcileVerificationsOptions = {},
): Promise<void> => {
  let sweptAt = Number.NEGATIVE_INFINITY

  const sweep = async (): Promise<void> => {
    if (clock.now() < sweptAt + sweepMs) return
    sweptAt = clock.now()
    await store.deleteVerifications(clock.now() - keepMs)
  }

  while (!signal.aborted) {
    try {
      await sweep()
      for (const id of await store.dueVerifications(kind, clock.now(), atOnce)) {
        await look(id, signal).catch((err: unknown) => {
          if (!signal.aborted) log.warn({ err, verification: id }, 'face verification could not be looked at')
        })
        await sleep(1000 / perSecond, signal)
        if (signal.aborted) return
      }
      const due = (await store.nextVerificationDue(kind)) ?? Number.POSITIVE_INFINITY
      await sleep(Math.min(everyMs, Math.max(1000 / perSecond, due - clock.now())), signal)
    } catch (err) {
      log.warn({ err }, 'face verifications could not be looked after')
      await sleep(everyMs, signal)
    }
  }
}
