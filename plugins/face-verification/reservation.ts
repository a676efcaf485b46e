import { randomUUID } from 'node:crypto'
import { Problem } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import { type FaceContext, faceNotChecked } from './context.ts'

/**
 * Runs `create` with a reservation, which counts as an open verification of the user while the upstream creates it. So
 * concurrent requests cannot exceed `maxOpen`. A rejection of `create` releases the reservation.
 *
 * Throws Problem 429 with `Retry-After` when the user has `maxOpen` already, and what `create` throws.
 */
export const withReservation = async <Created>(
  { store, clock, log, leaseMs, maxOpen }: FaceContext,
  user: string,
  create: (reserved: string) => Promise<Created>,
): Promise<Created> => {
  const createdAt = clock.now()
  const id = `reserved-${randomUUID()}`
  const nextExpiry = await storeCall(
    store.reserveVerification({ id, user, createdAt, expiresAt: createdAt + leaseMs }, maxOpen),
    faceNotChecked,
  )
  if (nextExpiry !== undefined) {
    const seconds = Math.max(1, Math.ceil((nextExpiry - createdAt) / 1000))
    throw new Problem(429, 'too many face verifications are open', {
      headers: { 'retry-after': String(seconds) },
      event: { action: 'limit.reach', target: { kind: 'verification' } },
    })
  }
  try {
    return await create(id)
  } catch (error) {
    await store.releaseReservation(id).catch((err: unknown) => {
      log.warn({ err, user }, 'the reservation of a face verification could not be released; it will expire')
    })
    throw error
  }
}
