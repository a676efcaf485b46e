import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import type { Idempotency } from '../../idempotency/index.ts'
import { noStoreJson } from '../../shared/http/no-store.ts'

/** What a create answers: `shown` once, and `kept` to repetitions of the request. */
export interface CreateAnswer {
  readonly shown: object
  /** Without secrets. Default: `shown`. */
  readonly kept?: object
}

/** A create that a client may repeat with the same `Idempotency-Key`. */
export type CreateOnce = (
  request: Request,
  creation: { readonly user: string; readonly route: string; readonly bytes: Uint8Array },
  create: () => Promise<CreateAnswer>,
) => Promise<Response>

/**
 * Creates the function that handles creates once. Undefined idempotency: the header is ignored.
 *
 * A body may have a password, and the store of idempotency keeps a quick hash of what it compares: so it compares a
 * keyed hash.
 */
export const createOnceWith =
  (idempotency: Idempotency | undefined, secret: string): CreateOnce =>
  async (request, { user, route, bytes }, create) => {
    if (!idempotency) return noStoreJson((await create()).shown)
    const body = new Uint8Array(createHmac('sha256', secret).update('admin').update(Buffer.from(bytes)).digest())
    return idempotency.run(request, { user, route: `admin ${route}`, body }, async (attempt) => {
      const { shown, kept = shown } = await create()
      await attempt?.remember(noStoreJson(kept))
      return noStoreJson(shown)
    })
  }
