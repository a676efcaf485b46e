import { randomUUID } from 'node:crypto'
import { Problem } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import type { LimitedCall } from '../usage-limits/index.ts'
import { type FaceContext, faceNotChecked } from './context.ts'

/**
 * Runs `create` with a reservation, which counts as an open verification of the user while the upstream creates it, and
 * as a group. So concurrent requests exceed neither `maxOpen` nor a limit on groups. A rejection of `create` releases
 * the reservation.
 *
 * Throws Problem 429 with `Retry-After` when the user has `maxOpen` already, LimitProblem (429) without room for
 * another group, and what `create` throws.
 */
export const withReservation = async <Created>(
  context: FaceContext,
  caller: Pick<LimitedCall, 'user' | 'token' | 'signal'>,
  create: (reserved: string) => Promise<Created>,
): Promise<Created> => {
  const { store, log, usageLimits } = context
  const { user } = caller
  const group = await usageLimits?.reserve({ ...caller, uses: { groups: 1 } })
  try {
    const id = await reserve(context, user)
    // From now on the store counts the open verification.
    group?.settle({ groups: 1 })
    try {
      return await create(id)
    } catch (error) {
      await store.releaseReservation(id).catch((err: unknown) => {
        log.warn({ err, user }, 'the reservation of a face verification could not be released; it will expire')
      })
      throw error
    }
  } finally {
    group?.release()
  }
}

/** Stores the reservation, and returns its id. */
const reserve = async (
  { store, clock, leaseMs, maxOpen }: Pick<FaceContext, 'store' | 'clock' | 'leaseMs' | 'maxOpen'>,
  user: string,
): Promise<string> => {
  const createdAt = clock.now()
  const id = `reserved-${randomUUID()}`
  const nextExpiry = await storeCall(
    store.reserveVerification({ id, user, createdAt, expiresAt: createdAt + leaseMs }, maxOpen),
    faceNotChecked,
  )
  if (nextExpiry === undefined) return id
  const seconds = Math.max(1, Math.ceil((nextExpiry - createdAt) / 1000))
  throw new Problem(429, 'too many face verifications are open', {
    headers: { 'retry-after': String(seconds) },
    event: { action: 'limit.reach', target: { kind: 'verification' } },
  })
}
