import { settleClaims } from './settle.ts'
import type { ClaimedVideoTask, PoolLimits } from './store.ts'
import { errorOf, submit, type VideoContext } from './submit.ts'
import { failedObject } from './view.ts'

/** Sends waiting tasks to the upstream while slots are free. */
export interface Dispatcher {
  /** Resolves when no waiting task of any pool can be sent now. */
  dispatch(signal: AbortSignal): Promise<void>
}

/** Create calls that a process sends at once. */
const maxConcurrent = 8

/** Of a pool whose tasks have waited since the operator removed its slots. */
const unlimited: PoolLimits = { running: Number.POSITIVE_INFINITY }

export const createDispatcher = (context: VideoContext): Dispatcher => {
  const { store, limitsOf, describe, clock, leaseMs, log } = context

  const submitClaim = async (claim: ClaimedVideoTask): Promise<void> => {
    const result = await submit(claim, context)
    if (result.outcome === 'rejected') {
      const now = clock.now()
      await store.failVideoTask(claim, failedObject(claim, errorOf(result.problem), now), now, describe)
    } else if (result.outcome === 'unknown') {
      log.warn({ task: claim.id, err: result.cause }, 'the answer to a create call was lost')
      await settleClaims([claim], context)
    }
  }

  /** Claims and submits one task after the other until none is left whose turn it is. */
  const drain = async (pool: string, signal: AbortSignal): Promise<void> => {
    const limits = limitsOf(pool) ?? unlimited
    while (!signal.aborted) {
      const now = clock.now()
      const claim = await store.claimVideoTask(pool, limits, now, now + leaseMs)
      if (!claim) return
      await submitClaim(claim).catch((err: unknown) => {
        // The claim is settled later.
        log.warn({ task: claim.id, err }, 'a task could not be submitted')
      })
    }
  }

  return {
    async dispatch(signal) {
      const pools = await store.poolsWithWaiting(clock.now())
      const lanes = Math.max(1, Math.ceil(maxConcurrent / Math.max(1, pools.length)))
      for (let from = 0; from < pools.length; from += maxConcurrent) {
        const some = pools.slice(from, from + maxConcurrent)
        await Promise.all(some.flatMap((pool) => Array.from({ length: lanes }, () => drain(pool, signal))))
      }
    },
  }
}
