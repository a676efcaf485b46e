import type { OwnedGroup } from '../../ownership/index.ts'
import { instantOf } from '../../pagination-normalizer/index.ts'
import { readId } from '../../shared/id.ts'
import type { Json } from '../../shared/json/json.ts'
import { storeCall } from '../../shared/store-call.ts'
import { type Caller, itemsOf, type Upstream, UpstreamInvalidError } from '../../upstream-proxy/index.ts'
import { wholeSeconds } from './item.ts'
import type { AdoptedAsset, SlottedAssetStore } from './store.ts'

/** Of the assets of one group. */
const maxPages = 1_000

/** Makes the assets that the upstream has of some groups known, once for each group. */
export type AdoptGroups = (groups: readonly OwnedGroup[], caller?: Caller) => Promise<void>

/**
 * The library knows the assets of a group as soon as somebody asks for one: those that were there before it had slots.
 * They keep their ids.
 */
export const createAdoption = (
  { upstream }: { readonly upstream: Upstream },
  store: Pick<SlottedAssetStore, 'unadoptedGroups' | 'adoptAssets'>,
): AdoptGroups => {
  /** Groups whose assets are known. */
  const known = new Set<string>()

  const adopt = async (group: OwnedGroup, caller: Caller): Promise<void> => {
    const assets: AdoptedAsset[] = []
    let nextToken: string | undefined
    for (let page = 0; page < maxPages; page++) {
      const query = { groupType: group.type, groups: [group], sortBy: 'CreateTime', sortOrder: 'Asc' } as const
      const paging = { maxResults: 100, nextToken }
      const response = await upstream.send({ action: 'ListAssets', query: { ...query, paging } }, caller)
      for (const item of itemsOf(response)) if (item.get('GroupId')?.string() === group.id) assets.push(adopted(item))
      nextToken = response.json?.get('Result')?.get('NextToken')?.string() || undefined
      if (nextToken === undefined) break
    }
    await storeCall(store.adoptAssets(group, assets), 'the assets of the group could not be recorded')
  }

  return async (groups, caller = {}) => {
    const unknown = groups.filter(({ id }) => !known.has(id))
    if (unknown.length === 0) return
    const ids = new Set(
      await storeCall(store.unadoptedGroups(unknown.map(({ id }) => id)), 'failed to read the assets'),
    )
    for (const group of unknown) {
      if (ids.has(group.id)) await adopt(group, caller)
      if (known.size >= maxKnown) known.clear()
      known.add(group.id)
    }
  }
}

/** Bound of the groups that a process remembers. */
const maxKnown = 100_000

const adopted = (item: Json): AdoptedAsset => {
  const id = readId(item.get('Id')?.string())
  if (id === undefined) throw new UpstreamInvalidError('an asset of a list has no Id')
  const status = item.get('Status')?.string()
  const createdAt = wholeSeconds(instantOf(item.get('CreateTime')?.string()) ?? 0)
  const type = item.get('AssetType')
  return {
    id,
    name: item.get('Name')?.string() ?? '',
    status: status === 'Active' || status === 'Failed' ? status : 'Processing',
    createdAt,
    updatedAt: wholeSeconds(instantOf(item.get('UpdateTime')?.string()) ?? createdAt),
    body: type ? `{"AssetType":${type.raw}}` : '{}',
    item: item.raw,
  }
}
