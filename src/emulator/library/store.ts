import type { Settings } from '../options.ts'
import { firstOf, idOf, tieBreakerOf } from '../shared/ids.ts'
import type { Library, NewAsset, NewGroup } from './library.ts'
import { createProcessing } from './processing.ts'
import type { Asset, Group } from './records.ts'

/** Creates an empty library. */
export const createLibrary = (settings: Settings): Library => {
  const groups = new Map<string, Group>()
  const assets = new Map<string, Asset>()
  const members = new Map<string, Set<string>>()
  const processing = createProcessing(settings)
  let advancedMs = 0
  let created = firstOf(settings.account)
  let revision = 0

  const now = () => settings.clock() + advancedMs

  const finishProcessing = (): void => {
    for (const id of processing.due(now())) {
      const asset = assets.get(id)
      if (asset === undefined) continue
      assets.set(id, processing.ended(asset))
      revision++
    }
  }

  const addGroup = ({ id, name, type = 'AIGC', description = '', project, extra = [], ...times }: NewGroup): Group => {
    const { createTime = now(), updateTime = createTime } = times
    const n = created++
    const group: Group = {
      id: id ?? idOf('group', n, createTime),
      ...{ name, type, description, project: project ?? settings.project },
      ...{ createTime, updateTime, extra, tieBreaker: tieBreakerOf(n) },
    }
    if (groups.has(group.id)) throw new Error(`the group ${group.id} exists already`)
    groups.set(group.id, group)
    members.set(group.id, new Set())
    revision++
    return group
  }

  const addAsset = ({ id, groupId, createTime = now(), updateTime = createTime, ...given }: NewAsset): Asset => {
    const group = groups.get(groupId)
    if (group === undefined) throw new Error(`there is no group ${groupId}`)
    const n = created++
    const assetId = id ?? idOf('asset', n, createTime)
    if (assets.has(assetId)) throw new Error(`the asset ${assetId} exists already`)
    const asset: Asset = {
      ...{ id: assetId, groupId, name: '', status: 'Active', type: 'Image', moderation: '{"Strategy":"Default"}' },
      ...{ url: 'https://files.example/picture.png', project: group.project, extra: [] },
      ...given,
      ...{ createTime, updateTime, tieBreaker: tieBreakerOf(n) },
    }
    assets.set(assetId, asset)
    members.get(groupId)?.add(assetId)
    if (asset.status === 'Processing') processing.start(assetId, now())
    revision++
    return asset
  }

  const changeGroup = (id: string, change: { readonly name?: string; readonly description?: string }): boolean => {
    const group = groups.get(id)
    if (group === undefined) return false
    const { name = group.name, description = group.description } = change
    groups.set(id, { ...group, name, description, updateTime: now() })
    revision++
    return true
  }

  const renameAsset = (id: string, name: string): boolean => {
    finishProcessing()
    const asset = assets.get(id)
    if (asset === undefined) return false
    assets.set(id, { ...asset, name, updateTime: now() })
    revision++
    return true
  }

  const deleteGroup = (id: string): boolean => {
    for (const assetId of members.get(id) ?? []) assets.delete(assetId)
    members.delete(id)
    revision++
    return groups.delete(id)
  }

  const deleteAsset = (id: string): boolean => {
    members.get(assets.get(id)?.groupId ?? '')?.delete(id)
    revision++
    return assets.delete(id)
  }

  const assetsOf = (groupId?: string): Asset[] => {
    finishProcessing()
    if (groupId === undefined) return [...assets.values()]
    return [...(members.get(groupId) ?? [])].flatMap((id) => assets.get(id) ?? [])
  }

  const asset = (id: string): Asset | undefined => {
    finishProcessing()
    return assets.get(id)
  }

  return {
    groups: () => [...groups.values()],
    assets: assetsOf,
    group: (id) => groups.get(id),
    asset,
    ...{ addGroup, addAsset, changeGroup, renameAsset, deleteGroup, deleteAsset },
    count: () => ({ groups: groups.size, assets: assets.size }),
    advance: (ms) => {
      advancedMs += ms
    },
    now,
    revision: () => {
      finishProcessing()
      return revision
    },
  }
}
