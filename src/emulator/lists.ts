import type { Account, Action, Answer, Ask } from './account.ts'
import { type Fields, fieldsIn, fieldsOf } from './fields.ts'
import { foreignAsset, foreignGroup } from './foreign-items.ts'
import { assetText, groupText, type Look } from './items.ts'
import { cut, type Sorted, sorted } from './listing.ts'
import { printOf, windowOf } from './paging.ts'
import type { Asset, Group, GroupType } from './records.ts'
import { invalid, missing } from './refusal.ts'

const NAME_MOST = 64
const IDS_MOST = 100
const STATUSES: readonly string[] = ['Processing', 'Active', 'Failed']

interface Filter {
  readonly type: GroupType
  /** empty: every group of the account and project */
  readonly groupIds: readonly string[]
  /** in lower case */
  readonly name: string
  /** empty: all */
  readonly statuses: readonly string[]
}

/** How one kind of item is listed. */
interface Listing<Item, SortBy extends string> {
  readonly filter: Filter
  readonly sorts: readonly ['CreateTime', ...SortBy[]]
  readonly kept: Sorted<Item>
  all(): Item[]
  keyOf(item: Item, by: SortBy | 'CreateTime'): number | string
  textOf(item: Item, look: Look): string
  foreign(): Item
}

/** Page 2318272. */
export const listAssetGroups: Action = (account, ask) => {
  const filter = filterOf(ask)
  return list(account, ask, {
    filter,
    sorts: ['CreateTime', 'UpdateTime'],
    kept: account.sortedGroups,
    all: () => groupsOf(account, ask, filter).filter((group) => isListed(group, account) && fits(group, filter)),
    keyOf: (group, by) => second(by === 'UpdateTime' ? group.updateTime : group.createTime),
    textOf: (group, look) => groupText(group, look, true),
    foreign: () => foreignGroup(account.library, filter.groupIds),
  })
}

/** Page 2318273. */
export const listAssets: Action = (account, ask) => {
  const filter = filterOf(ask)
  const wanted = (asset: Asset) =>
    fits(asset, filter) && (filter.statuses.length === 0 || filter.statuses.includes(asset.status))
  return list(account, ask, {
    filter,
    sorts: ['CreateTime', 'UpdateTime', 'GroupId'],
    kept: account.sortedAssets,
    all: () => groupsOf(account, ask, filter).flatMap((group) => account.library.assets(group.id).filter(wanted)),
    keyOf: (asset, by) =>
      by === 'GroupId' ? asset.groupId : second(by === 'UpdateTime' ? asset.updateTime : asset.createTime),
    textOf: assetText,
    foreign: () => foreignAsset(account.library, filter.groupIds),
  })
}

function list<Item extends Group | Asset, SortBy extends string>(
  account: Account,
  ask: Ask,
  { filter, sorts, kept, all, keyOf, textOf, foreign }: Listing<Item, SortBy>,
): Answer {
  const { settings, library } = account
  const fields = fieldsOf(ask.members)
  const by = fields.word('SortBy', sorts) ?? 'CreateTime'
  const down = fields.word('SortOrder', ['Desc', 'Asc']) !== 'Asc'
  const print = printOf(ask.action, ask.project, filter, by, down)
  const window = windowOf(fields, print, settings.maxPageDepth)

  const key = (item: Item) => keyOf(item, by)
  const items = kept(print, library.revision(), () => sorted(all(), key, down))
  const { shown, ...page } = cut(items, window, { print, down, keyOf: key })
  const text = (item: Item) => textOf(item, { settings, plain: ask.plain, now: library.now() })
  return { list: { ...page, items: shown.map(text), stranger: () => text(foreign()) } }
}

function filterOf(ask: Ask): Filter {
  const given = fieldsOf(ask.members).object('Filter')
  if (given === undefined && !ask.plain) throw missing('Filter')
  const fields = fieldsIn(given ?? {})
  const type = fields.word('GroupType', ['AIGC', 'LivenessFace'])
  if (type === undefined && !ask.plain) throw missing('Filter.GroupType')
  return {
    type: type ?? 'AIGC',
    groupIds: groupIdsOf(fields),
    name: (fields.text('Name', NAME_MOST) ?? '').toLowerCase(),
    statuses: ask.action === 'ListAssets' ? statusesOf(fields) : [],
  }
}

function groupIdsOf(fields: Fields): string[] {
  const ids = fields.list('GroupIds')
  if (ids.length > IDS_MOST) throw invalid('GroupIds', `GroupIds must have at most ${IDS_MOST} entries.`)
  return [...new Set(ids)].sort()
}

function statusesOf(fields: Fields): string[] {
  const statuses = fields.list('Statuses')
  const known = statuses.every((status) => STATUSES.includes(status))
  if (!known) throw invalid('Statuses', `Statuses must be of ${STATUSES.join(', ')}.`)
  return [...new Set(statuses)].sort()
}

/** The groups of the project that a filter means: unknown ids are just absent, no ids mean all. */
function groupsOf({ library }: Account, { project }: Ask, { groupIds, type }: Filter): Group[] {
  const groups = groupIds.length > 0 ? groupIds.flatMap((id) => library.group(id) ?? []) : library.groups()
  return groups.filter((group) => group.project === project && group.type === type)
}

function isListed({ type }: Group, { settings }: Account): boolean {
  return type !== 'LivenessFace' || settings.faceGroupsListed
}

function fits({ name }: Group | Asset, filter: Filter): boolean {
  return filter.name === '' || name.toLowerCase().includes(filter.name)
}

// sorted as shown, by the second, so that equal times are common
function second(ms: number): number {
  return Math.floor(ms / 1000)
}
