import type { OwnedGroup } from '../../ownership/index.ts'
import type { JsonBody } from '../../shared/http/body/body.ts'
import type { UpstreamResponse } from '../../upstream-proxy/index.ts'
import { requireConsent } from '../consent/require-consent.ts'
import { type Creator, createdId, createWithinLimits, type Library, type Owners } from '../routes/library.ts'
import { watchAsset } from '../watch/asset-watch.ts'

/** What a caller of `addAsset` does around the call of the upstream. */
export interface AssetCreation {
  readonly group: OwnedGroup
  /** The headers of the request that asks for the asset. */
  readonly headers?: Headers
  /** Called when there is room. Records that the call begins. Resolves with its body; undefined: there is no call. */
  readonly begin: () => Promise<JsonBody | undefined>
  /** Called when the upstream has created the asset. False: it must not be recorded as an asset of the group. */
  readonly created: (asset: string, response: UpstreamResponse) => Promise<boolean>
}

/**
 * Creates an asset within the limits of its user, records it as the user's, and watches it: for the route, for pictures
 * and for batches. Resolves with the upstream's response.
 *
 * Throws Problem 429 above a limit, and without a slot for an asset of a person, 403 for a group whose person has
 * withdrawn the consent, and as the upstream and the two functions do.
 */
export const addAsset = async (
  library: Library,
  owners: Pick<Owners, 'record'>,
  creator: Creator,
  { group, headers, begin, created }: AssetCreation,
): Promise<UpstreamResponse | undefined> => {
  const { user } = creator
  const uses = { assets: 1 }
  const isPerson = group.type === 'LivenessFace'
  if (isPerson) await requireConsent(group, library.consents)
  return createWithinLimits(library, { ...creator, uses }, (held) => {
    const create = async (slot?: string): Promise<UpstreamResponse | undefined> => {
      const body = await begin()
      if (!body) return undefined
      const caller = { user, ...(headers && { headers }) }
      const response = await library.upstream.send({ action: 'CreateAsset', group, body }, caller)
      const asset = createdId(response)
      if (await created(asset, response))
        await recordAsset(library, owners, { asset, group, slot, settle: () => held?.settle(uses) })
      return response
    }
    return isPerson && library.personSlots
      ? library.personSlots.take({ user, account: group.account }, create)
      : create()
  })
}

interface CreatedAsset {
  readonly asset: string
  readonly group: OwnedGroup
  /** Id of the claim of its slot, which ends with the record. */
  readonly slot?: string | undefined
  readonly settle?: () => void
}

/**
 * Records an asset that the upstream has as its user's, and watches it. Never rejects: the asset exists, and the
 * gateway can ask the upstream for its group later.
 */
export const recordAsset = async (
  library: Library,
  owners: Pick<Owners, 'record'>,
  { asset, group, slot, settle }: CreatedAsset,
): Promise<void> => {
  const recorded = owners
    .record(asset, group, slot)
    .then(() => settle?.())
    .catch((err: unknown) => library.log.warn({ err, asset }, 'asset could not be recorded'))
  await Promise.all([recorded, watchAsset(library, asset, group)])
}
