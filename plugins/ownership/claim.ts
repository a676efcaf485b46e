import { type Clock, systemClock } from '../shared/clock.ts'
import { Problem } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import { endClaimLater } from './claim-ends.ts'
import type { Claim, ClaimStore, WantedClaim } from './store.ts'

/**
 * The possible effect of a failed upstream call.
 *
 * - `none`: the upstream has changed nothing.
 * - `possible`: the upstream responded with an error (status from 500), but may have made the change.
 * - `unknown`: there was no valid response, and the upstream may still process the request.
 */
export type ClaimEffect = 'none' | 'possible' | 'unknown'

/** Options of `withClaim`. */
export interface WithClaimOptions<Made> {
  readonly store: ClaimStore
  readonly wanted: WantedClaim
  /** Calls the upstream, once. */
  readonly send: () => Promise<Made>
  /** Returns the id of the new or renamed group. */
  readonly idOf: (made: Made) => string
  /** Classifies an error of `send`. */
  readonly effectOf: (error: unknown) => ClaimEffect
  /** Default: the system clock. */
  readonly clock?: Clock
}

/**
 * Creates or renames a group with a claim on its name, so that a crash at any point leaves a record.
 *
 * It claims the name, calls the upstream, and confirms the claim. `reconcile` processes the claims that stay open. When
 * a write fails that ends a claim, it is retried in the background until the store responds, so that the name does not
 * stay reserved.
 *
 * Throws Problem 400 if the name is in use or is reserved by a call with an unknown outcome, or if another call renames
 * the group and its outcome is not known yet; Problem 500 if the store fails; and every error of `send`.
 */
export const withClaim = async <Made>(options: WithClaimOptions<Made>): Promise<Made> => {
  const { store, wanted, send, idOf, effectOf, clock = systemClock } = options
  const sought = { ...wanted, id: wanted.id ?? crypto.randomUUID() }
  const claim = await store.claim(sought).catch((cause: unknown) => {
    // The store may still write the claim, for which there is no upstream call. It may do so after the first release.
    const write = () => store.release({ ...sought, state: 'pending' })
    endClaimLater(store, { write, until: sought.dueAt, repeatAfterMs: lateWriteMs }, clock)
    throw cause instanceof Problem ? cause : new Problem(500, notChecked, { cause })
  })
  if (!claim) throw (await storeCall(store.hasUnresolved(wanted), notChecked)) ? outcomeUnknown() : nameInUse()

  let made: Made
  try {
    made = await send()
  } catch (error) {
    await endFailedClaim(store, claim, effectOf(error), clock)
    throw error
  }

  const confirmed = await store.confirm(claim, { id: idOf(made), createdAt: clock.now() }).catch((cause: unknown) => {
    // If this write succeeds, reconciliation records the group soon. The response does not wait for the write.
    void endFailedClaim(store, claim, 'unknown', clock)
    throw notRecorded(cause)
  })
  if (!confirmed)
    throw notRecorded(
      new Error(`claim ${claim.id} could not be confirmed: its name or its group belongs to another claim`),
    )
  return made
}

const notChecked = 'failed to check asset group'

const nameInUse = () => new Problem(400, 'an asset group with the same Name and GroupType already exists')

const outcomeUnknown = () =>
  new Problem(
    400,
    'the outcome of an earlier request for the same Name and GroupType is not known yet; try again shortly',
  )

const notRecorded = (cause: unknown) => new Problem(500, 'failed to record asset group', { cause })

/** How long after the first response of a store its earlier writes may still take effect. Milliseconds. */
const lateWriteMs = [1_000, 3_000, 9_000]

/** Never rejects: the caller must receive the upstream's error. */
const endFailedClaim = async (store: ClaimStore, claim: Claim, effect: ClaimEffect, clock: Clock): Promise<void> => {
  const endedAt = clock.now()
  const write = (): Promise<void> => {
    if (effect === 'none') return store.release(claim)
    // No renaming is possible while the outcome of one is not known: so it is checked at once.
    if (effect === 'possible') return store.markUnresolved(claim, claim.renames === undefined ? claim.dueAt : endedAt)
    return store.postpone(claim, endedAt, Math.min(claim.dueAt, endedAt))
  }
  await write().catch(() => endClaimLater(store, { write, until: claim.dueAt, repeatAfterMs: [] }, clock))
}
