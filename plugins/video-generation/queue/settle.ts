import type { VideoTask } from '../tasks/task.ts'
import { failedObject } from '../tasks/view.ts'
import type { UpstreamTask } from '../upstream/client.ts'
import { allStatuses, findTasks, type TaskSearch } from './find-tasks.ts'
import { onAccount, safetyIdentifierOf, type VideoContext } from './submit.ts'

/** What became of a claim whose answer was lost. `open`: nothing is known yet. */
export type ClaimSettlement = 'submitted' | 'waiting' | 'dropped' | 'failed' | 'open'

/** Difference that the clocks of the gateway and of the upstream may have, in milliseconds. */
export const clockSkewMs = 60_000

/** Milliseconds until a claim that is still open is looked at again. The pause grows with the age of the claim. */
const retryMs = { min: 1_000, max: 30_000 }

/** The code of a task, or of an error, of which nobody knows whether the upstream has created it. */
export const unknownOutcomeCode = 'create_outcome_unknown'

/**
 * Settles claims whose answers were lost: looks for their tasks in the upstream's lists.
 *
 * A task belongs to a claim if it has the identifier of its user and its nonce (`execution_expires_after`), is not
 * older than the claim, and no other task of the gateway has its id. One that fits is adopted. If none has appeared
 * until `settleMs` after the end of the lease, the task waits again, or is dropped where there is no queue. If several
 * fit, the task fails, and the log asks for a person.
 *
 * A claim that cannot be settled is put off, and delays no other. Rejects when that is so for all of them.
 */
export const settleClaims = async (
  claims: readonly VideoTask[],
  context: VideoContext,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, ClaimSettlement>> => {
  const now = context.clock.now()
  const settled = new Map<string, ClaimSettlement>()
  let failed: unknown
  /** Other claims do not wait for those that fail. Rejects when the store is down. */
  const putOff = async (some: readonly VideoTask[], error: unknown): Promise<void> => {
    if (signal?.aborted) throw error
    failed ??= error
    for (const claim of some) await defer(claim, context)
  }
  for (const { account, tier, claims: group } of searchesFor(claims, context)) {
    let search: TaskSearch
    try {
      // In all statuses: a short task has ended by now.
      search = await findTasks(tier, allStatuses, onAccount(account, context), signal)
    } catch (error) {
      await putOff(group, error)
      continue
    }
    const fitting = group.map((claim) => ({
      claim,
      tasks: search.tasks.filter((task) => belongsTo(task, claim, context)),
    }))
    const known = await context.store.knownUpstreamIds(fitting.flatMap(({ tasks }) => tasks.map(({ id }) => id)))
    for (const { claim, tasks } of fitting) {
      const found = tasks.filter(({ id }) => !known.has(id))
      const absent = found.length === 0 && search.complete && isOverdue(claim, context, now)
      try {
        settled.set(claim.id, await settle(claim, { found, absent }, context))
      } catch (error) {
        await putOff([claim], error)
      }
    }
  }
  if (failed !== undefined && settled.size === 0) throw failed
  if (failed !== undefined) context.log.warn({ err: failed }, 'claims of tasks could not be settled, and are put off')
  return settled
}

/** Claims whose tasks are in the same lists. */
export interface ClaimSearch {
  readonly account: string | undefined
  readonly tier: VideoTask['serviceTier']
  readonly claims: readonly VideoTask[]
}

/** The lists in which the tasks of claims are: one for each account and tier. */
export const searchesFor = (
  claims: readonly VideoTask[],
  { accounts }: Pick<VideoContext, 'accounts'>,
): readonly ClaimSearch[] =>
  [...Map.groupBy(claims, accounts.of)].flatMap(([account, own]) =>
    [...Map.groupBy(own, ({ serviceTier }) => serviceTier)].map(([tier, claims]) => ({ account, tier, claims })),
  )

/** A claim that is still open is looked at again after a pause that grows with its age. */
const defer = async (claim: VideoTask, { store, clock, settleMs }: VideoContext): Promise<void> => {
  const now = clock.now()
  const age = now - (claim.claimedAt ?? claim.createdAt)
  await store.deferVideoClaim(claim, now + Math.min(Math.max(age, retryMs.min), retryMs.max, settleMs / 2))
}

const isOverdue = ({ leaseUntil }: VideoTask, { settleMs }: VideoContext, now: number): boolean =>
  now >= leaseUntil + settleMs

/** Whether a task of the upstream is one that the create call of a claim may have made. */
export const belongsTo = (task: UpstreamTask, claim: VideoTask, { identifierSecret }: VideoContext): boolean =>
  task.expiresAfter === claim.nonce &&
  task.safetyIdentifier === safetyIdentifierOf(identifierSecret, claim.user) &&
  task.createdAt * 1000 >= (claim.claimedAt ?? claim.createdAt) - clockSkewMs

const settle = async (
  claim: VideoTask,
  { found, absent }: { readonly found: readonly UpstreamTask[]; readonly absent: boolean },
  context: VideoContext,
): Promise<ClaimSettlement> => {
  const { store, clock, pollMs, log } = context
  const now = clock.now()
  const fields = { task: claim.id, user: claim.user }
  const [only, ...others] = found
  if (only && others.length === 0) {
    if (!(await store.confirmVideoTask(claim, only.id, now, now + pollMs))) return 'open'
    log.info(fields, 'found the task of a lost answer')
    return 'submitted'
  }
  if (only) {
    const error = { code: unknownOutcomeCode, message: 'it is not known which task the upstream has created' }
    await store.failVideoTask(claim, failedObject(claim, error, now), now, true)
    log.error({ ...fields, upstreamIds: found.map(({ id }) => id) }, 'several upstream tasks fit one create call')
    return 'failed'
  }
  if (!absent) {
    await defer(claim, context)
    return 'open'
  }
  log.warn(fields, 'the upstream has not created a task whose answer was lost')
  // What the slots are now does not matter: a task waits again if it came through the queue.
  if (await store.releaseVideoTask(claim, now, undefined)) return 'waiting'
  await store.dropVideoTask(claim)
  return 'dropped'
}
