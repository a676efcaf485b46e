import { accessDenied } from '../../shared/audit.ts'
import type { AssetOwners } from '../../shared/media/asset-ownership.ts'
import { Problem } from '../../shared/problem.ts'
import { UpstreamRejectedError } from '../../upstream-proxy/index.ts'
import type { Owners } from './library.ts'

/**
 * Checks owners of assets for uses that show a person, such as a video.
 *
 * When the authorisation of a person ends, the upstream removes the LivenessFace group with its assets, and the gateway
 * does not learn of it. So the upstream is asked for an asset of such a group each time.
 */
export const authorizedAssets = (owners: Pick<Owners, 'asset' | 'locateAsset'>): AssetOwners => ({
  async asset(user, id, request) {
    const owned = await owners.asset(user, id, request)
    if (owned.group.type !== 'LivenessFace') return owned
    const located = owned.evidence ? owned : await owners.locateAsset(user, id, request)
    if (!(located.evidence instanceof UpstreamRejectedError)) return located
    throw new Problem(403, 'the person of this asset no longer authorizes its use', {
      event: accessDenied('asset', owned.id),
    })
  },
})
