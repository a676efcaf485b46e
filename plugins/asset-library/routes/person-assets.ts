import { isLent, type OwnedAsset, type ReadableAsset } from '../../ownership/index.ts'
import type { Clock } from '../../shared/clock.ts'
import { consentUnread } from '../../shared/consent/export.ts'
import { notAuthorized } from '../../shared/consent/not-authorized.ts'
import type { ConsentStore } from '../../shared/consent/store.ts'
import type { AssetOwners, FoundAsset } from '../../shared/media/asset-ownership.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { type Upstream, UpstreamRejectedError } from '../../upstream-proxy/index.ts'
import { requireConsent } from '../consent/require-consent.ts'
import type { UsableAssets } from '../slots/use/usable-assets.ts'
import type { Evidence, Owners } from './library.ts'

/**
 * Checks owners of assets for uses that show a person, such as a video.
 *
 * When the authorisation of a person ends, the upstream removes the LivenessFace group with its assets, and the gateway
 * does not learn of it. So the upstream is asked for an asset of such a group each time. The person may also have
 * withdrawn the consent here, which the store knows.
 */
export const authorizedAssets = (
  owners: Pick<Owners, 'usableAsset' | 'locateAsset' | 'areLent' | 'recordUse'>,
  consents: Pick<ConsentStore, 'hasWithdrawn' | 'recordConsentUse'> | undefined,
  clock: Pick<Clock, 'now'>,
  usable?: UsableAssets,
): AssetOwners => ({
  ...usable,
  async asset(user, id, request) {
    const found = await owners.usableAsset(user, id, request)
    if (found.group.type !== 'LivenessFace') return useOf(found)
    await requireConsent(found, consents)
    // A lent asset was located just now.
    const located = found.evidence ? found : await owners.locateAsset(user, id, request)
    if (!(located.evidence instanceof UpstreamRejectedError))
      return { ...useOf(located), ...(consents && { showsPerson: true }) }
    throw notAuthorized('asset', found.id)
  },
  areLent: (user, groups) => owners.areLent(user, groups),
  recordUse: (user, groups) => owners.recordUse(user, groups),
  ...(consents && {
    areConsented: areConsentedBy(consents),
    recordPersonUse: (use) => storeCall(consents.recordConsentUse({ ...use, at: clock.now() }), consentUnread),
  }),
})

/** Checks owners of assets for text requests, which use their callers' own assets alone. */
export interface TextAssets extends Pick<AssetOwners, 'areConsented' | 'hold'> {
  asset(user: string, id: unknown, request?: Request): Promise<TextAsset>
}

type TextAsset = Pick<OwnedAsset<Evidence>, 'id' | 'account' | 'group'> & Pick<FoundAsset, 'showsPerson'>

/** The same for uses that make no video: the ledger does not list them. */
export const consentedAssets = (
  owners: Pick<Owners, 'asset'>,
  consents: Pick<ConsentStore, 'hasWithdrawn'>,
): TextAssets => ({
  async asset(user, id, request) {
    const found = await owners.asset(user, id, request)
    if (found.group.type !== 'LivenessFace') return found
    await requireConsent(found, consents)
    return { id: found.id, account: found.account, group: found.group, showsPerson: true }
  },
  areConsented: areConsentedBy(consents),
})

const areConsentedBy =
  (consents: Pick<ConsentStore, 'hasWithdrawn'>): NonNullable<AssetOwners['areConsented']> =>
  async (groups) => {
    for (const group of groups) if (await storeCall(consents.hasWithdrawn(group), consentUnread)) return false
    return true
  }

const useOf = ({ group }: ReadableAsset<Evidence>) => ({ group, isLent: isLent(group) })

/** The assets of the first account alone: for an upstream that reads the assets of one account. */
export const assetsOfFirst = (owners: TextAssets, { accounts }: Pick<Upstream, 'accounts'>): TextAssets => {
  if (!accounts) return owners
  const [first] = accounts.names
  return {
    ...owners,
    async asset(user, id, request) {
      const found = await owners.asset(user, id, request)
      if (found.account === first) return found
      throw new Problem(403, `the asset is on the account ${found.account}, which this upstream does not read`)
    },
  }
}

/** The assets of a library that is larger than its slots. */
export const assetsOfSlots = (owners: TextAssets, { hold }: Pick<UsableAssets, 'hold'>): TextAssets => ({
  asset: (user, id, request) => owners.asset(user, id, request),
  areConsented: owners.areConsented,
  hold,
})
