import type { Library } from './library.ts'
import type { Asset, Group } from './records.ts'

const MADE_UP: Group = {
  ...{ id: 'group-20200101000000-other', name: 'somebody else', description: '', type: 'AIGC', project: 'default' },
  ...{ createTime: Date.UTC(2020, 0), updateTime: Date.UTC(2020, 0), extra: [], tie: 0 },
}

/** A group that was not asked for: one of the account, or a made-up one where the account has no other. */
export function foreignGroup(library: Library, asked: readonly string[]): Group {
  if (asked.length === 0) return MADE_UP
  return library.groups().find((group) => !asked.includes(group.id)) ?? MADE_UP
}

/** An asset of such a group. */
export function foreignAsset(library: Library, asked: readonly string[]): Asset {
  const found = asked.length > 0 && library.assets().find((asset) => !asked.includes(asset.groupId))
  if (found) return found
  const id = 'asset-20200101000000-other'
  const file = { url: 'https://files.example/other.png', moderation: '{"Strategy":"Default"}' }
  return { ...MADE_UP, ...file, id, groupId: MADE_UP.id, type: 'Image', status: 'Active' }
}
