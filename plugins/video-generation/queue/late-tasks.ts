import type { VideoTask } from '../tasks/task.ts'
import { findTasks, openStatuses } from './find-tasks.ts'
import { belongsTo, type ClaimSearch, clockSkewMs, searchesFor } from './settle.ts'
import { onAccount, type VideoContext } from './submit.ts'

/** Tasks that the upstream shows only when their create calls count as failed already. */
export interface LateTasks {
  /** The create call of this claim counts as failed. */
  add(claim: VideoTask): void
  /** Looks for the tasks of such claims, from time to time, and cancels them. */
  cancel(signal: AbortSignal): Promise<void>
}

interface LateClaim {
  readonly claim: VideoTask
  readonly until: number
  /** Its tasks that were reported. */
  readonly reported: Set<string>
}

/** Length of the search, in multiples of the time after which a call counts as failed. */
const searchTimes = 10
/** Milliseconds between two looks. */
const maxEveryMs = 30_000
/** Claims that are remembered. */
const maxClaims = 1_000

/**
 * Remembers the claims of this process whose create calls count as failed, so that a task which such a call has made
 * after all does not run for nobody.
 *
 * Such a task has the nonce of its claim, which no other claim of the user had at that time.
 */
export const createLateTasks = (context: VideoContext): LateTasks => {
  const { store, clock, settleMs, log } = context
  let claims: readonly LateClaim[] = []
  let nextAt = 0

  const isNew = (task: string, { id }: VideoTask): boolean => {
    const reported = claims.find(({ claim }) => claim.id === id)?.reported
    if (reported?.has(task)) return false
    reported?.add(task)
    return true
  }

  const cancelOf = async ({ account, tier, claims: group }: ClaimSearch, signal: AbortSignal): Promise<void> => {
    const own = onAccount(account, context)
    const { tasks } = await findTasks(tier, openStatuses, own, signal)
    const late = group.flatMap((claim) =>
      tasks
        .filter((task) => belongsTo(task, claim, context))
        .filter(({ createdAt }) => createdAt * 1000 <= claim.leaseUntil + clockSkewMs)
        .map((task) => ({ task, claim })),
    )
    const known = await store.knownUpstreamIds(late.map(({ task }) => task.id))
    for (const { task, claim } of late.filter((one) => !known.has(one.task.id))) {
      const fields = { task: claim.id, user: claim.user, upstreamId: task.id }
      if (task.status === 'queued') {
        try {
          await own.client.delete(task.id)
          log.warn(fields, 'cancelled a task that the upstream has created after all')
        } catch (err) {
          // The others do not wait for this one. It is tried again with the next look.
          log.warn({ ...fields, err }, 'a task that the upstream has created after all could not be cancelled')
        }
      } else if (isNew(task.id, claim)) {
        log.error(fields, 'the upstream runs a task that it has created after all')
      }
    }
  }

  return {
    add(claim) {
      claims = [...claims, { claim, until: clock.now() + searchTimes * settleMs, reported: new Set<string>() }].slice(
        -maxClaims,
      )
    },

    async cancel(signal) {
      const now = clock.now()
      claims = claims.filter(({ until }) => until > now)
      if (claims.length === 0 || now < nextAt) return
      nextAt = now + Math.min(maxEveryMs, settleMs)
      let failed: unknown
      const open = claims.map(({ claim }) => claim)
      for (const search of searchesFor(open, context)) {
        // The upstream may still list the tasks of the other tier.
        await cancelOf(search, signal).catch((error: unknown) => {
          failed ??= error
        })
      }
      if (failed !== undefined) throw failed
    },
  }
}
