import { isLent, type ReadableAsset } from '../../ownership/index.ts'
import { accessDenied } from '../../shared/audit.ts'
import type { AssetOwners } from '../../shared/media/asset-ownership.ts'
import { Problem } from '../../shared/problem.ts'
import { UpstreamRejectedError } from '../../upstream-proxy/index.ts'
import type { Evidence, Owners } from './library.ts'

/**
 * Checks owners of assets for uses that show a person, such as a video.
 *
 * When the authorisation of a person ends, the upstream removes the LivenessFace group with its assets, and the gateway
 * does not learn of it. So the upstream is asked for an asset of such a group each time.
 */
export const authorizedAssets = (
  owners: Pick<Owners, 'usableAsset' | 'locateAsset' | 'areLent' | 'recordUse'>,
): AssetOwners => ({
  async asset(user, id, request) {
    const found = await owners.usableAsset(user, id, request)
    if (found.group.type !== 'LivenessFace') return useOf(found)
    // A lent asset was located just now.
    const located = found.evidence ? found : await owners.locateAsset(user, id, request)
    if (!(located.evidence instanceof UpstreamRejectedError)) return useOf(located)
    throw new Problem(403, 'the person of this asset no longer authorizes its use', {
      event: accessDenied('asset', found.id),
    })
  },
  areLent: (user, groups) => owners.areLent(user, groups),
  recordUse: (user, groups) => owners.recordUse(user, groups),
})

const useOf = ({ group }: ReadableAsset<Evidence>) => ({ group, isLent: isLent(group) })
