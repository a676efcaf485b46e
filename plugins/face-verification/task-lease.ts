import { accessDenied } from '../shared/audit.ts'
import { readId } from '../shared/id.ts'
import { declareOwned, type OwnedId } from '../shared/owned-id.ts'
import { Problem } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import type { Upstream, VerificationKind } from '../upstream-proxy/index.ts'
import { type FaceContext, faceNotChecked } from './context.ts'
import type { Verification } from './store.ts'

/** A task on which the code acts for its creator. */
export interface OwnedTask extends Verification {
  /** The id to send to the upstream: the upstream client accepts only owned ids. */
  readonly verification: OwnedId<'verification'>
}

/**
 * The caller's task with that id. Throws Problem 404 when the caller has none of that kind, and Problem 500 when the
 * store fails.
 */
export const findOwnTask = async (
  { store, upstream }: Pick<FaceContext, 'store' | 'upstream'>,
  kind: VerificationKind,
  user: string,
  id: unknown,
): Promise<OwnedTask> => {
  const validId = readId(id)
  const task = validId === undefined ? undefined : await storeCall(store.verification(validId), faceNotChecked)
  if (task?.user !== user || task.kind !== kind) {
    throw new Problem(404, 'verification not found', { event: accessDenied('verification', validId) })
  }
  return declareOwn(task, upstream)
}

/** When a task may be polled again. Times are milliseconds since 1970. */
export interface PollSchedule {
  /** Before this time the task cannot be leased. */
  readonly notBefore: number
  /** When the background polling polls it; undefined: never. */
  readonly dueAt: number | undefined
  /** Polls without a result. */
  readonly polls: number
}

/**
 * Runs `poll` with a task that no other process polls. Returns false, without a call of `poll`, when the lease is taken
 * or the task has ended.
 *
 * `poll` gets a signal that aborts before the lease ends. When `poll` rejects, this rejects too, and
 * `scheduleAfterError` gives the next poll.
 */
export const withLease = async (
  { store, upstream, clock, leaseMs, log }: FaceContext,
  id: string,
  signal: AbortSignal | undefined,
  poll: (task: OwnedTask, signal: AbortSignal) => Promise<PollSchedule>,
  scheduleAfterError: (task: Verification) => PollSchedule,
): Promise<boolean> => {
  const now = clock.now()
  const until = now + leaseMs
  const leased = await storeCall(store.leaseVerification(id, now, until), faceNotChecked)
  if (!leased) return false
  const task = declareOwn(leased, upstream)
  const deadline = AbortSignal.timeout(Math.ceil(leaseMs * 0.8))
  let next: PollSchedule | undefined
  try {
    next = await poll(task, signal ? AbortSignal.any([signal, deadline]) : deadline)
    return true
  } finally {
    await store.releaseVerification(task, until, next ?? scheduleAfterError(task)).catch((err: unknown) => {
      log.warn({ err, verification: id }, 'the lease of a face verification could not be released; it will expire')
    })
  }
}

/**
 * The only place in this plugin where an id becomes owned. Its callers have either compared the task's user, or leased
 * the task for its creator.
 */
const declareOwn = (task: Verification, { accounts }: Pick<Upstream, 'accounts'>): OwnedTask => ({
  ...task,
  verification: declareOwned('verification', {
    id: task.token ?? task.id,
    account: task.account ?? accounts?.names[0],
  }),
})
