import type { OwnedGroup } from '../../ownership/index.ts'
import { instantOf } from '../../pagination-normalizer/index.ts'
import { readId } from '../../shared/id.ts'
import type { Json } from '../../shared/json/json.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { type Caller, itemsOf, UpstreamInvalidError } from '../../upstream-proxy/index.ts'
import type { SlotAccounts } from './accounts.ts'
import { wholeSeconds } from './item.ts'
import { newAssetId } from './new-id.ts'
import type { SlotLibrary } from './slots.ts'
import type { AdoptedAsset, SlottedAssetStore } from './store.ts'

/** Of the assets of one group. */
const pageSize = 100
export const maxAdopted = 100_000
/** Pause before a group with more of them is read again. Milliseconds. */
const tooLargeMs = 600_000

/**
 * Makes the assets that the upstream has of some groups known, once for each group. Rejects with Problem 502 for a
 * group with more assets than can be taken over: none of them is then.
 */
export type AdoptGroups = (groups: readonly OwnedGroup[], caller?: Caller) => Promise<void>

/**
 * The library knows the assets of a group as soon as somebody asks for one: those that were there before it had slots.
 * They keep their ids, except one that has the id of an asset of another account.
 */
export const createAdoption = (
  { upstream, clock, log }: Pick<SlotLibrary, 'upstream' | 'clock' | 'log'>,
  store: Pick<SlottedAssetStore, 'unadoptedGroups' | 'adoptAssets'>,
  accounts: Pick<SlotAccounts, 'of'>,
): AdoptGroups => {
  /** Groups whose assets are known. */
  const known = new Set<string>()
  /** Until when groups are not read again that have too many. */
  const tooLarge = new Map<string, number>()

  const readAll = async (group: OwnedGroup, caller: Caller): Promise<readonly AdoptedAsset[]> => {
    const assets: AdoptedAsset[] = []
    let nextToken: string | undefined
    for (let page = 0; page < maxAdopted / pageSize; page++) {
      const query = { groupType: group.type, groups: [group], sortBy: 'CreateTime', sortOrder: 'Asc' } as const
      const paging = { maxResults: pageSize, nextToken }
      const response = await upstream.send({ action: 'ListAssets', query: { ...query, paging } }, caller)
      for (const item of itemsOf(response))
        if (item.get('GroupId')?.string() === group.id) assets.push(adopted(item, clock.now()))
      nextToken = response.json?.get('Result')?.get('NextToken')?.string() || undefined
      if (nextToken === undefined) return assets
    }
    // A part of them would look like all: the lists would lack the others for good.
    log.error({ group: group.id, assets: assets.length }, 'a group has too many assets to be taken over')
    if (tooLarge.size >= maxKnown) tooLarge.clear()
    tooLarge.set(group.id, clock.now() + tooLargeMs)
    throw tooManyAssets()
  }

  const adopt = async (group: OwnedGroup, caller: Caller): Promise<void> => {
    // The client rejects the list of a group on another account.
    const key = accounts.of(group.account)?.account.key ?? ''
    if (clock.now() < (tooLarge.get(group.id) ?? 0)) throw tooManyAssets()
    const assets = await readAll(group, caller)
    const { id, user } = group
    await storeCall(
      store.adoptAssets({ id, user, account: key }, assets),
      'the assets of the group could not be recorded',
    )
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

const tooManyAssets = (): Problem =>
  new Problem(502, `the group has more than ${maxAdopted} assets from before the library had slots`)

/** Bound of the groups that a process remembers. */
const maxKnown = 100_000

const adopted = (item: Json, now: number): AdoptedAsset => {
  const id = readId(item.get('Id')?.string())
  if (id === undefined) throw new UpstreamInvalidError('an asset of a list has no Id')
  const status = item.get('Status')?.string()
  const createdAt = wholeSeconds(instantOf(item.get('CreateTime')?.string()) ?? 0)
  const type = item.get('AssetType')
  return {
    id,
    otherId: newAssetId(now),
    name: item.get('Name')?.string() ?? '',
    status: status === 'Active' || status === 'Failed' ? status : 'Processing',
    createdAt,
    updatedAt: wholeSeconds(instantOf(item.get('UpdateTime')?.string()) ?? createdAt),
    body: type ? `{"AssetType":${type.raw}}` : '{}',
    item: item.raw,
  }
}
