import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import type { AttemptRecord, Idempotency, Settlement } from '../../idempotency/index.ts'
import type { Clock } from '../../shared/clock.ts'
import { noStoreJson } from '../../shared/http/no-store.ts'

/** What a create answers: `shown` once, and `kept` to repetitions of the request. */
export interface CreateAnswer {
  readonly shown: object
  /** Without secrets. Default: `shown`. */
  readonly kept?: object
}

/** What is created, and for whom. */
export interface AdminCreation {
  readonly user: string
  readonly route: string
  /** What a repetition must repeat. */
  readonly bytes: Uint8Array
  /**
   * Finds what was created under an id, and resolves with the answer to repetitions. Undefined: nothing was. It is
   * asked when the process of an earlier request has died before its answer. Default: the outcome stays unknown.
   */
  readonly find?: (id: string) => Promise<object | undefined>
}

/**
 * A create that a client may repeat with the same `Idempotency-Key`.
 *
 * @param create gets the id of what it creates. Undefined: any
 */
export type CreateOnce = (
  request: Request,
  creation: AdminCreation,
  create: (id: string | undefined) => Promise<CreateAnswer>,
) => Promise<Response>

/**
 * How long a key stays in use when its process has died. A statement whose outcome the database did not tell in time
 * has ended then.
 */
const leaseMs = 15_000

/**
 * Creates the function that handles creates once. Undefined idempotency: the header is ignored.
 *
 * A body may have a password, and the store of idempotency keeps a quick hash of what it compares: so it compares a
 * keyed hash. What is created has the id of the attempt, so that it can be found.
 */
export const createOnceWith =
  (idempotency: Idempotency | undefined, secret: string, clock: Pick<Clock, 'now'>): CreateOnce =>
  async (request, { user, route, bytes, find }, create) => {
    if (!idempotency) return noStoreJson((await create(undefined)).shown)
    const body = new Uint8Array(createHmac('sha256', secret).update('admin').update(Buffer.from(bytes)).digest())
    const settle = async ({ id, startedAt }: AttemptRecord): Promise<Settlement> => {
      const settledAt = startedAt + leaseMs
      const now = clock.now()
      if (now < settledAt) return { outcome: 'unknown', retryAfterSeconds: (settledAt - now) / 1_000 }
      const found = await find?.(id)
      return found ? { outcome: 'created', response: noStoreJson(found) } : { outcome: 'none' }
    }
    const creation = { user, route: `admin ${route}`, body, leaseMs, renewsLease: true, ...(find && { settle }) }
    return idempotency.run(request, creation, async (attempt) => {
      const { shown, kept = shown } = await create(attempt?.id)
      await attempt?.remember(noStoreJson(kept))
      return noStoreJson(shown)
    })
  }
