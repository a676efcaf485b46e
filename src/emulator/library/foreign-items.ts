import type { Library } from './library.ts'
import type { Asset, Group } from './records.ts'

const fictionalGroup: Group = {
  ...{
    id: 'group-20200101000000-other',
    name: 'group of another account',
    description: '',
    type: 'AIGC',
    project: 'default',
  },
  ...{ createTime: Date.UTC(2020, 0), updateTime: Date.UTC(2020, 0), extra: [], tieBreaker: 0 },
}

/** A group outside the requested ids: another group of the account, or a fictional one. */
export const foreignGroup = (library: Library, requestedIds: readonly string[]): Group => {
  if (requestedIds.length === 0) return fictionalGroup
  return library.groups().find((group) => !requestedIds.includes(group.id)) ?? fictionalGroup
}

/** An asset outside the requested groups: another asset of the account, or a fictional one. */
export const foreignAsset = (library: Library, requestedIds: readonly string[]): Asset => {
  const found = requestedIds.length > 0 && library.assets().find((asset) => !requestedIds.includes(asset.groupId))
  if (found) return found
  const id = 'asset-20200101000000-other'
  const file = { url: 'https://files.example/other.png', moderation: '{"Strategy":"Default"}' }
  return { ...fictionalGroup, ...file, id, groupId: fictionalGroup.id, type: 'Image', status: 'Active' }
}
