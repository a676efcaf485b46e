import { Problem } from '../shared/problem.ts'
import { firstLookMs } from './reconcile.ts'
import type { Claim, ClaimStore } from './store.ts'

/**
 * What a failed call to the upstream may have left there: `none`: nothing; `doubtful`: it said no, but may have done it all the same (a status of 500 and
 * above); `unknown`: it said nothing that could be understood, and may still be at it.
 */
export type ClaimEffect = 'none' | 'doubtful' | 'unknown'

export interface WithClaimOptions<Made> {
  readonly store: ClaimStore
  readonly wanted: Omit<Claim, 'id' | 'state'>
  /** Asks the upstream, once. */
  readonly make: () => Promise<Made>
  /** Id of the group that was made or renamed. */
  readonly idOf: (made: Made) => string
  readonly effectOf: (error: unknown) => ClaimEffect
  /** Milliseconds since 1970. Default the system's clock. */
  readonly now?: () => number
}

/**
 * Creates or renames a group so that a crash at any point loses nothing: the name is claimed first, then the upstream is asked, then the claim is confirmed.
 * What is left open is for `settle`.
 *
 * Throws Problem 400 when the name is taken, or was by a call whose outcome is not known yet; 500 when the store fails before or after; and whatever `make`
 * throws.
 */
export const withClaim = async <Made>(options: WithClaimOptions<Made>): Promise<Made> => {
  const { store, wanted, make, idOf, effectOf, now = Date.now } = options
  const unchecked = (cause: unknown) => {
    throw new Problem(500, 'failed to check asset group', { cause })
  }
  const claim = await store.claim(wanted).catch(unchecked)
  if (!claim) throw (await store.hasUnresolved(wanted).catch(unchecked)) ? unsettled() : taken()

  let made: Made
  try {
    made = await make()
  } catch (error) {
    await leave(store, claim, effectOf(error), now())
    throw error
  }

  const confirmed = await store.confirm(claim, { id: idOf(made), createdAt: now() }).catch((cause: unknown) => {
    // Should the store be back soon, so is the group. Nobody waits for that.
    void leave(store, claim, 'unknown', now())
    throw unrecorded(cause)
  })
  if (!confirmed) throw unrecorded(new Error(`the claim ${claim.id} was overtaken`))
  return made
}

const taken = () => new Problem(400, 'an asset group with the same Name and GroupType already exists')

const unsettled = () =>
  new Problem(400, 'an earlier request for the same Name and GroupType is still being settled; try again shortly')

const unrecorded = (cause: unknown) => new Problem(500, 'failed to record asset group', { cause })

const leave = async (store: ClaimStore, claim: Claim, effect: ClaimEffect, endedAt: number): Promise<void> => {
  try {
    if (effect === 'none') await store.release(claim)
    if (effect === 'doubtful') await store.markUnresolved(claim, claim.dueAt)
    if (effect === 'unknown') await store.keep(claim, endedAt, Math.min(claim.dueAt, endedAt + firstLookMs))
  } catch {
    // The caller is to hear of the upstream's failure; the claim stays pending and is settled when it is due.
  }
}
