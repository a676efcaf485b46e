import { refused } from '../shared/audit.ts'
import { readId } from '../shared/id.ts'
import type { Owned } from '../shared/owned.ts'
import { Problem } from '../shared/problem.ts'
import { type FaceContext, fromStore } from './context.ts'
import type { Verification, VerificationKind } from './store.ts'

/** A task in the hands of its creator, or of somebody who acts for the creator. */
export interface OwnTask extends Verification {
  /** What the upstream may be asked with. */
  readonly verification: Owned<'verification'>
}

/** The caller's task of that id. Throws Problem 404 when there is none, whatever the reason, and 500 when the store cannot be asked. */
export const ownTask = async (
  { store }: Pick<FaceContext, 'store'>,
  kind: VerificationKind,
  user: string,
  id: unknown,
): Promise<OwnTask> => {
  const readable = readId(id)
  const task = readable === undefined ? undefined : await fromStore(store.verification(readable))
  if (task?.user !== user || task.kind !== kind) {
    throw new Problem(404, 'verification not found', { event: refused('verification', readable) })
  }
  return declareOwn(task)
}

/** What a look at a task says of the next one. */
export interface NextLook {
  /** When anybody may look again. */
  readonly restUntil: number
  /** When somebody should; undefined: never. */
  readonly dueAt: number | undefined
  readonly asks: number
}

/**
 * Looks at a task on its creator's behalf while nobody else does, in any process. False, and nothing was done, when somebody else does, or it is over.
 *
 * `look` gets a signal that ends it in time for the lease. Rejects as `look` does; then the task is due when `afterFailure` says.
 */
export const withLease = async (
  { store, clock, leaseMs, log }: FaceContext,
  id: string,
  signal: AbortSignal | undefined,
  look: (task: OwnTask, signal: AbortSignal) => Promise<NextLook>,
  afterFailure: (task: Verification) => NextLook,
): Promise<boolean> => {
  const now = clock.now()
  const until = now + leaseMs
  const leased = await fromStore(store.leaseVerification(id, now, until))
  if (!leased) return false
  const task = declareOwn(leased)
  const deadline = AbortSignal.timeout(Math.ceil(leaseMs * 0.8))
  let next: NextLook | undefined
  try {
    next = await look(task, signal ? AbortSignal.any([signal, deadline]) : deadline)
    return true
  } finally {
    await store.releaseVerification(task, until, next ?? afterFailure(task)).catch((err: unknown) => {
      log.warn({ err, verification: id }, 'face verification could not be released before its lease ends')
    })
  }
}

/** The only place where something becomes owned: found by its creator, or leased for the creator. */
const declareOwn = (task: Verification): OwnTask => ({
  ...task,
  verification: { id: task.token ?? task.id } as Owned<'verification'>,
})
