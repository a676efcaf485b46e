import { randomUUID } from 'node:crypto'
import { Problem } from '../shared/problem.ts'
import { type FaceContext, fromStore } from './context.ts'

/**
 * Begins a verification, where its user has not too many open already: a place among them is kept while the upstream is asked, so that of many at once no more
 * get through than may. Throws Problem 429 with `Retry-After`, and what `begin` throws.
 */
export const withReservation = async <Begun>(
  { store, clock, log, leaseMs, maxOpen }: FaceContext,
  user: string,
  begin: (reserved: string) => Promise<Begun>,
): Promise<Begun> => {
  const createdAt = clock.now()
  const id = `reserved-${randomUUID()}`
  const next = await fromStore(
    store.reserveVerification({ id, user, createdAt, expiresAt: createdAt + leaseMs }, maxOpen),
  )
  if (next !== undefined) {
    const seconds = Math.max(1, Math.ceil((next - createdAt) / 1000))
    throw new Problem(429, 'too many face verifications are open', {
      headers: { 'retry-after': String(seconds) },
      event: { action: 'limit.reach', target: { kind: 'verification' } },
    })
  }
  try {
    return await begin(id)
  } catch (error) {
    await store.releaseReservation(id).catch((err: unknown) => {
      log.warn({ err, user }, 'a reserved face verification could not be released before it expires')
    })
    throw error
  }
}
