import type { CreationAttempt, Idempotency, IdempotentRequest } from '../../idempotency/index.ts'
import {
  type AssetLocation,
  type ClaimEffect,
  type ClaimStore,
  type Ownership,
  type OwnershipStore,
  type WantedClaim,
  withClaim,
} from '../../ownership/index.ts'
import type { Audit } from '../../shared/audit.ts'
import type { Awaitable } from '../../shared/awaitable.ts'
import type { Clock } from '../../shared/clock.ts'
import type { ConsentStore } from '../../shared/consent/store.ts'
import { readId } from '../../shared/id.ts'
import { identityOf } from '../../shared/identity/identify.ts'
import { asJsonObject } from '../../shared/json/parsed.ts'
import { type Log, Problem } from '../../shared/problem.ts'
import {
  type Caller,
  type Upstream,
  UpstreamBusyError,
  UpstreamInvalidError,
  UpstreamRejectedError,
  type UpstreamResponse,
  UpstreamUnreachableError,
} from '../../upstream-proxy/index.ts'
import type { Amounts, UsageLimits, UsageReservation } from '../../usage-limits/index.ts'
import type { Placement } from '../accounts/placement.ts'
import type { FilterCheck } from '../lists/filter-check.ts'
import type { AssetNews } from '../watch/asset-event-queue.ts'

/** The collaborators of the asset library's routes. */
export interface Library {
  readonly upstream: Upstream
  /** Decides which account gets a new group. */
  readonly placement: Placement
  readonly filterCheck: FilterCheck
  readonly claims: ClaimStore
  /** The assets that the gateway has created and reported to their callers. */
  readonly assets: Pick<OwnershipStore, 'groupOfAsset'>
  /** Where events of assets are recorded. Undefined: nowhere. */
  readonly events: AssetNews | undefined
  /** Whether persons consent to the use of their groups. Undefined: nobody can withdraw a consent. */
  readonly consents: Pick<ConsentStore, 'hasWithdrawn'> | undefined
  /** The slots of assets of persons. Undefined: the library is not larger than its slots. */
  readonly personSlots: PersonSlots | undefined
  /** Undefined: the header `Idempotency-Key` is ignored. */
  readonly idempotency: Idempotency | undefined
  /** Maximum length of a request body, in bytes. */
  readonly maxBodyBytes: number
  /** Limits on the groups and assets that users have. Undefined: none. */
  readonly usageLimits: UsageLimits | undefined
  /** Milliseconds until reconciliation may take over a claim. It is longer than the claim's upstream call can take. */
  readonly claimMs: number
  readonly clock: Clock
  readonly log: Log
  readonly audit: Audit
}

/** The slots of assets of persons, which count as those of their owner, and which nobody can take away. */
export interface PersonSlots {
  /**
   * Creates an asset of a person on an account, in the place of other assets there if there is no room. `create`
   * records the asset, which ends the claim of the slot: then the record counts. Any other claim ends afterwards.
   *
   * Rejects with Problem 429 when the user has as many slots as a user may have, and none of them can be freed; and
   * when there is none without the floors of others.
   */
  take<Created>(
    owner: { readonly user: string; readonly account: string | undefined },
    create: (slot?: string) => Promise<Created>,
  ): Promise<Created>
}

/** For whom something is created. */
export interface Creator {
  readonly user: string
  /** Id of the token. */
  readonly token?: string | undefined
  /** Ends the wait for room. */
  readonly signal?: AbortSignal | undefined
}

/** The caller of a request as a creator. */
export const creatorOf = (request: Request, user: string): Creator => ({
  ...{ user, token: identityOf(request)?.token, signal: request.signal },
})

/**
 * Holds room for what is about to be created, and creates it. `create` settles the reservation when the store has
 * a record of it, which counts from then on; what is still held at the end is given back.
 */
export const createWithinLimits = async <Created>(
  { usageLimits }: Pick<Library, 'usageLimits'>,
  { user, token, signal, uses }: Creator & { readonly uses: Amounts },
  create: (held: Pick<UsageReservation, 'settle'> | undefined) => Promise<Created>,
): Promise<Created> => {
  const held = await usageLimits?.reserve({ user, token, uses, signal })
  try {
    return await create(held)
  } finally {
    held?.release()
  }
}

/** The upstream's response to a request for an asset: the asset, or the error that it does not exist. */
export type Evidence = UpstreamResponse | UpstreamRejectedError

export type Owners = Ownership<Evidence>

/**
 * Asks the upstream for an asset and reads its group. Undefined group: the asset does not exist. Throws every other
 * upstream error.
 */
export const locateAsset = async (
  upstream: Upstream,
  id: string,
  caller: Caller,
  account?: string,
): Promise<AssetLocation<Evidence>> => {
  try {
    const evidence = await upstream.send({ action: 'GetAsset', id, account }, caller)
    const asset = asJsonObject(evidence.fields?.Result)
    const group = readId(asset?.GroupId)
    if (group === undefined) throw new UpstreamInvalidError('the asset has no GroupId')
    if (typeof asset?.Id === 'string' && asset.Id !== id)
      throw new UpstreamInvalidError('the response is about another asset')
    return { group, account, evidence }
  } catch (error) {
    if (error instanceof UpstreamRejectedError && absentStatuses.has(error.status))
      return { group: undefined, account, evidence: error }
    throw error
  }
}

/** Statuses that mean: no asset has this id. */
const absentStatuses: ReadonlySet<number> = new Set([400, 404, 410])

/** `Result.Id` of a creation. Throws UpstreamInvalidError without one. */
export const createdId = (response: UpstreamResponse): string => {
  const id = readId(asJsonObject(response.fields?.Result)?.Id)
  if (id === undefined) throw new UpstreamInvalidError('the response to a creation has no Result.Id')
  return id
}

/** Creates or renames a group under a claim on its name. */
export const sendUnderClaim = (
  { claims, claimMs, clock }: Library,
  wanted: Omit<WantedClaim, 'createdAt' | 'dueAt'>,
  send: () => Promise<UpstreamResponse>,
  idOf: (response: UpstreamResponse) => string,
): Promise<UpstreamResponse> =>
  withClaim({
    store: claims,
    wanted: { ...wanted, createdAt: clock.now(), dueAt: clock.now() + claimMs },
    send: async () => {
      const response = await send()
      // Throws without an id while the claim is still open, so that reconciliation handles it.
      idOf(response)
      return response
    },
    idOf,
    effectOf,
    clock,
  })

/** Creates something, once if the request has an `Idempotency-Key`. */
export const createOnce = (
  { idempotency, claimMs, upstream }: Library,
  request: Request,
  creation: Omit<IdempotentRequest, 'leaseMs' | 'mayHaveCreated'>,
  create: (attempt: CreationAttempt | undefined) => Promise<Response>,
): Awaitable<Response> => {
  if (!idempotency) return create(undefined)
  // A group that one account does not take is created on the next one.
  const leaseMs = claimMs * (upstream.accounts?.names.length ?? 1)
  return idempotency.run(request, { ...creation, leaseMs, mayHaveCreated }, create)
}

/** Whether a creation that has failed may have created something. */
export const mayHaveCreated = (error: unknown): boolean => effectOf(error) !== 'none'

/** What a failed call that creates or renames something may have done. */
export const effectOf = (error: unknown): ClaimEffect => {
  // Rejected by the upstream, or by this gateway before its call: for example an original that cannot be read.
  if (error instanceof Problem && error.status < 500) return 'none'
  if (error instanceof UpstreamRejectedError) return 'possible'
  return error instanceof UpstreamBusyError || (error instanceof UpstreamUnreachableError && !error.sent)
    ? 'none'
    : 'unknown'
}
