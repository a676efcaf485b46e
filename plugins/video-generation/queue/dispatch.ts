import type { ClaimedVideoTask } from '../store/queue.ts'
import { unlimitedSlots } from '../store/slots.ts'
import { failedObject } from '../tasks/view.ts'
import { errorOf } from './rejection.ts'
import { settleClaims } from './settle.ts'
import { submit, type VideoContext } from './submit.ts'

/** Sends waiting tasks to the upstream while slots are free. */
export interface Dispatcher {
  /** Resolves when no waiting task of any pool can be sent now. */
  dispatch(signal: AbortSignal): Promise<void>
}

/** Create calls that a process sends at once. */
const maxConcurrent = 8

export const createDispatcher = (context: VideoContext): Dispatcher => {
  const { store, accounts, limitsOf, clock, leaseMs, log } = context

  const submitClaim = async (claim: ClaimedVideoTask): Promise<void> => {
    const result = await submit(claim, context)
    if (result.outcome === 'rejected') {
      const now = clock.now()
      await store.failVideoTask(claim, failedObject(claim, errorOf(result.problem), now), now)
    } else if (result.outcome === 'unknown') {
      log.warn({ task: claim.id, err: result.cause }, 'the answer to a create call was lost')
      await settleClaims([claim], context)
    }
  }

  /** Claims and submits the task of a pool whose turn it is. Resolves with whether the pool may have another one. */
  const submitNext = async (pool: string): Promise<boolean> => {
    const now = clock.now()
    const claim = await store.claimVideoTask(
      pool,
      limitsOf(accounts.modelOf(pool)) ?? unlimitedSlots,
      now,
      now + leaseMs,
    )
    if (!claim) return false
    await submitClaim(claim).catch((err: unknown) => {
      // The claim is settled later.
      log.warn({ task: claim.id, err }, 'a task could not be submitted')
    })
    return true
  }

  return {
    async dispatch(signal) {
      const pools = await store.poolsWithWaiting(clock.now())
      const lanes = Math.max(1, Math.floor(maxConcurrent / Math.max(1, pools.length)))
      const turns = pools.flatMap((pool) => Array.from({ length: lanes }, () => pool))
      /** The pools take turns, so that none waits until another has no task left. */
      const work = async (): Promise<void> => {
        for (let pool = turns.shift(); pool !== undefined && !signal.aborted; pool = turns.shift()) {
          const again = await submitNext(pool).catch((err: unknown) => {
            log.warn({ pool, err }, 'waiting tasks of a pool could not be submitted')
            return false
          })
          if (again) turns.push(pool)
        }
      }
      await Promise.all(Array.from({ length: maxConcurrent }, work))
    },
  }
}
