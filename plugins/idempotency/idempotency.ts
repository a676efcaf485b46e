import { randomUUID } from 'node:crypto'
import type { Awaitable } from '../shared/awaitable.ts'
import { nextTurn } from '../shared/background/turns.ts'
import { type Clock, systemClock } from '../shared/clock.ts'
import { checkUser } from '../shared/identity/identify.ts'
import { checkAbove0, checkCollaborator } from '../shared/plugin/options.ts'
import { type Log, noLog, Problem } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import { readKept, replayOf } from './kept-response.ts'
import { keyInUse, keyInvalid, keyReused, outcomeUnknown, responseTooLarge, tooManyKeys } from './problem.ts'
import type { AttemptRecord, HeldKey, IdempotencyStore, KeptResponse } from './store.ts'

/** Options of `createIdempotency`. */
export interface IdempotencyOptions {
  readonly store: IdempotencyStore
  /** How long a key is kept, in milliseconds. Default 24 hours. */
  readonly ttlMs?: number
  /** How long a request holds a key at most. It must be longer than handling takes. Milliseconds, default 120,000. */
  readonly leaseMs?: number
  /** Maximum number of keys that are kept for a user. Default 10,000. */
  readonly maxKeys?: number
  /** Maximum length of a body that is kept, in bytes. Default 64 KiB. */
  readonly maxResponseBytes?: number
  /** Default: the system clock. */
  readonly clock?: Clock
  readonly log?: Log
}

/** An attempt to create something. */
export interface CreationAttempt extends AttemptRecord {
  /**
   * From then on another request may settle the attempt. Create nothing later than that: the process may have been
   * suspended. A lease that is renewed ends later each time.
   */
  readonly leaseUntil: number
  /**
   * Keeps the response already before `handle` returns it. Call it as soon as the creation is durable: then a
   * repetition gets this response also when the process dies. Resolves with false if the response could not be kept.
   * Never rejects.
   */
  remember(response: Response): Promise<boolean>
}

/**
 * What an earlier attempt has done, of which only this is known: it may have created something.
 *
 * - `created`: repetitions get `response`.
 * - `none`: it has certainly created nothing, and will not. The request is handled again.
 * - `unknown`: the request is rejected with 503. `retryAfterSeconds` undefined: the outcome will stay unknown.
 */
export type Settlement =
  | { readonly outcome: 'created'; readonly response: Response }
  | { readonly outcome: 'none' }
  | { readonly outcome: 'unknown'; readonly retryAfterSeconds?: number }

/** A request that creates something. */
export interface IdempotentRequest {
  /** The authenticated caller. Keys of different users are different keys. */
  readonly user: string
  /** Name of the route. Keys of different routes are different keys. */
  readonly route: string
  /** The bytes that a repetition must repeat. */
  readonly body: Uint8Array
  /**
   * Finds out what an attempt has done whose process has died, or which has failed with an unknown outcome. At most one
   * process asks at a time. Default: the outcome stays unknown.
   */
  readonly settle?: (earlier: AttemptRecord) => Promise<Settlement>
  /**
   * Whether a failed attempt may have created something. Gets what `handle` has thrown, or its response with a status
   * from 400. Default: false for a status from 400 to 499, else true.
   */
  readonly mayHaveCreated?: (failure: unknown) => boolean
  /** How long this request holds the key at most, in milliseconds. Default: the option of `createIdempotency`. */
  readonly leaseMs?: number
  /**
   * Whether the lease is renewed while `handle` runs. Then `handle` may take as long as it needs, and a key is in use
   * for at most `leaseMs` after the death of its process. Default false.
   */
  readonly renewsLease?: boolean
}

/** Handles requests with an `Idempotency-Key` once. */
export interface Idempotency {
  /**
   * Handles a request, or returns the response of the earlier request with the same key.
   *
   * Without an `Idempotency-Key`, it only calls `handle`, with undefined.
   *
   * Throws Problem 400 for a key that is not valid, 409 for a key that belongs to another body or to a request in
   * progress, 429 above `maxKeys`, 500 if the store fails, 503 while it is not known what an earlier attempt has
   * created, and every error of `handle`.
   */
  run(
    request: Pick<Request, 'headers'>,
    creation: IdempotentRequest,
    handle: (attempt: CreationAttempt | undefined) => Awaitable<Response>,
  ): Awaitable<Response>
}

/**
 * Creates the handler of idempotency keys. Throws TypeError without a store, and for a number that is not above 0.
 *
 * @example
 * const idempotency = createIdempotency({ store: store.idempotency })
 */
export const createIdempotency = (options: IdempotencyOptions): Idempotency => {
  const { store, ttlMs = 86_400_000, maxKeys = 10_000, maxResponseBytes = 65_536 } = options
  const { clock = systemClock, log = noLog } = options
  checkCollaborator('store', store)
  checkAbove0({ ttlMs, leaseMs: options.leaseMs, maxKeys, maxResponseBytes })
  let sweepAt = 0

  /** Expired keys do no harm, so they are swept while there are requests with keys, and by no timer. */
  const sweepSometimes = (now: number): void => {
    if (now < sweepAt) return
    sweepAt = now + sweepEveryMs
    sweep(now).catch((err: unknown) => log.warn({ err }, 'expired idempotency keys could not be deleted'))
  }

  /** As many steps as a minute of requests may need, and no more: the rest is for the next minute. */
  const sweep = async (now: number): Promise<void> => {
    for (let step = 0; step < maxSteps && (await store.sweep(now, maxSwept)) >= maxSwept; step++) await nextTurn()
  }

  const keep = async (held: HeldKey, kept: KeptResponse): Promise<boolean> => {
    const isHeld = await store.keep(held, kept, clock.now() + ttlMs)
    if (!isHeld) log.warn({ route: held.route }, 'a request took longer than the lease of its idempotency key')
    return isHeld
  }

  /** If the store fails, the lease ends later, and the next request settles the attempt. */
  const orFalse = (changed: Promise<boolean>): Promise<boolean> =>
    changed.catch((err: unknown) => {
      log.warn({ err }, 'an idempotency key could not be updated')
      return false
    })

  /** Renews a lease again and again. Nothing is renewed any more when `stop` has resolved. */
  const renewLease = (held: HeldKey, { startedAt, leaseUntil }: LeaseTimes): RenewedLease => {
    const leaseMs = leaseUntil - startedAt
    let renewing: Promise<unknown> = Promise.resolve()
    const lease = { until: leaseUntil, stop }
    let cancel = renewLater()
    return lease

    function renewLater() {
      return clock.at(clock.now() + leaseMs / 3, () => {
        renewing = renew().then(() => {
          cancel = renewLater()
        })
      })
    }

    async function renew(): Promise<void> {
      const until = clock.now() + leaseMs
      if (await orFalse(store.restart(held, startedAt, until))) lease.until = until
    }

    async function stop(): Promise<void> {
      await renewing
      cancel()
    }
  }

  const handleHeld = async (
    held: HeldKey,
    times: LeaseTimes,
    { mayHaveCreated = failedLate, renewsLease = false }: IdempotentRequest,
    handle: (attempt: CreationAttempt) => Awaitable<Response>,
  ): Promise<Response> => {
    const lease = renewsLease ? renewLease(held, times) : undefined
    let isRemembered = false
    const remember = (response: Response): Promise<boolean> => {
      isRemembered = true
      return orFalse(readKept(response, maxResponseBytes).then((kept) => keep(held, kept)))
    }
    const fail = async (failure: unknown): Promise<void> => {
      if (isRemembered) return
      const now = clock.now()
      await orFalse(mayHaveCreated(failure) ? store.end(held, now, now + ttlMs) : store.release(held))
    }
    const attempt: CreationAttempt = {
      ...{ id: held.holder, startedAt: times.startedAt, remember },
      get leaseUntil() {
        return lease?.until ?? times.leaseUntil
      },
    }
    let response: Response
    try {
      response = await handle(attempt)
    } catch (error) {
      await lease?.stop()
      await fail(error)
      throw error
    }
    await lease?.stop()
    if (response.status >= 400) await fail(response)
    else if (!isRemembered) await remember(response)
    return response
  }

  /** Returns the response of the earlier attempt, or undefined if the request must be handled again. */
  const settleEarlier = async (
    held: HeldKey,
    earlier: AttemptRecord,
    { settle }: IdempotentRequest,
  ): Promise<Response | undefined> => {
    try {
      const settlement: Settlement = (await settle?.(earlier)) ?? { outcome: 'unknown' }
      if (settlement.outcome === 'none') return undefined
      if (settlement.outcome === 'unknown') throw outcomeUnknown(settlement.retryAfterSeconds)
      const kept = await readKept(settlement.response, maxResponseBytes)
      await keep(held, kept)
      return replay(kept)
    } catch (error) {
      const now = clock.now()
      await orFalse(store.end(held, now, now + ttlMs))
      throw error
    }
  }

  const runWithKey = async (
    key: string,
    creation: IdempotentRequest,
    handle: (attempt: CreationAttempt) => Awaitable<Response>,
  ): Promise<Response> => {
    if (!keyForm.test(key)) throw keyInvalid()
    checkUser(creation.user)
    const { user, route, body, leaseMs = options.leaseMs ?? 120_000 } = creation
    const held: HeldKey = { user, route, key, holder: randomUUID() }
    const fingerprint = await sha256(body)
    const now = clock.now()
    sweepSometimes(now)
    const times = { now, leaseUntil: now + leaseMs, expiresAt: now + ttlMs }
    const claimed = await storeCall(store.claim({ ...held, fingerprint, ...times }, maxKeys), notChecked)
    switch (claimed.state) {
      case 'answered':
        return replay(claimed.response)
      case 'running':
        throw keyInUse()
      case 'mismatch':
        throw keyReused()
      case 'full':
        throw tooManyKeys((claimed.freeAt - now) / 1000)
      case 'resumed': {
        const response = await settleEarlier(held, claimed.earlier, creation)
        if (response) return response
        const startedAt = clock.now()
        const leaseUntil = startedAt + leaseMs
        if (!(await storeCall(store.restart(held, startedAt, leaseUntil), notChecked))) throw keyInUse()
        return handleHeld(held, { startedAt, leaseUntil }, creation, handle)
      }
      case 'claimed':
        return handleHeld(held, { startedAt: now, leaseUntil: times.leaseUntil }, creation, handle)
    }
  }

  return {
    run(request, creation, handle) {
      const key = request.headers.get('idempotency-key')
      return key === null ? handle(undefined) : runWithKey(key, creation, handle)
    },
  }
}

type LeaseTimes = Pick<CreationAttempt, 'startedAt' | 'leaseUntil'>

interface RenewedLease {
  readonly until: number
  readonly stop: () => Promise<void>
}

const sweepEveryMs = 60_000
const maxSwept = 1_000
const maxSteps = 100

const notChecked = 'the Idempotency-Key could not be checked'

/** Web Crypto hashes a large body on another thread. */
const sha256 = async (bytes: Uint8Array): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toHex()

/** Visible characters of ASCII (RFC 5234, VCHAR). */
const keyForm = /^[\x21-\x7e]{1,255}$/

const replay = (kept: KeptResponse): Response => {
  if (!kept.body) throw responseTooLarge()
  return replayOf(kept, kept.body)
}

const failedLate = (failure: unknown): boolean => {
  const isKnown = failure instanceof Problem || failure instanceof Response
  return !isKnown || failure.status < 400 || failure.status >= 500
}
