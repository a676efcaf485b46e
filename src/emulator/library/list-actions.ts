import type { Account, Action } from '../account.ts'
import type { ActionRequest, ActionResult } from '../action.ts'
import { invalid, missing } from '../api/ark-error.ts'
import { type Fields, fieldsIn, fieldsOf } from '../api/fields.ts'
import { assetText, groupText } from './item-json.ts'
import type { Library } from './library.ts'
import { pageOf, queryHashOf, readPageRequest, type SortCache, sorted } from './list-pages.ts'
import type { Asset, Group, GroupType } from './records.ts'

const maxNameLength = 64
const maxGroupIds = 100
const assetStatuses: readonly string[] = ['Processing', 'Active', 'Failed']

interface Filter {
  readonly type: GroupType
  /** empty: all groups of the project */
  readonly groupIds: readonly string[]
  /** part of the name, in lower case */
  readonly name: string
  /** empty: all statuses */
  readonly statuses: readonly string[]
}

/** How to list one kind of item. */
interface Listing<Item, SortBy extends string> {
  readonly filter: Filter
  readonly sorts: readonly ['CreateTime', ...SortBy[]]
  readonly cachedSort: SortCache<Item>
  all(): Item[]
  keyOf(item: Item, by: SortBy | 'CreateTime'): number | string
  textOf(item: Item, account: Account, request: ActionRequest): string
  foreign(): Item
}

/** ListAssetGroups (vendor page 2318272). */
export const listAssetGroups: Action = (account, request) => {
  const filter = filterOf(request)
  return list(account, request, {
    filter,
    sorts: ['CreateTime', 'UpdateTime'],
    cachedSort: account.sortedGroups,
    all: () => groupsOf(account, request, filter).filter((group) => isListed(group, account) && hasName(group, filter)),
    keyOf: (group, by) => second(by === 'UpdateTime' ? group.updateTime : group.createTime),
    textOf: (group) => groupText(group, account, request, true),
    foreign: () => foreignGroup(account.library, filter.groupIds),
  })
}

/** ListAssets (vendor page 2318273). */
export const listAssets: Action = (account, request) => {
  const filter = filterOf(request)
  const matches = (asset: Asset) =>
    hasName(asset, filter) && (filter.statuses.length === 0 || filter.statuses.includes(asset.status))
  return list(account, request, {
    filter,
    sorts: ['CreateTime', 'UpdateTime', 'GroupId'],
    cachedSort: account.sortedAssets,
    all: () => groupsOf(account, request, filter).flatMap((group) => account.library.assets(group.id).filter(matches)),
    keyOf: (asset, by) =>
      by === 'GroupId' ? asset.groupId : second(by === 'UpdateTime' ? asset.updateTime : asset.createTime),
    textOf: assetText,
    foreign: () => foreignAsset(account.library, filter.groupIds),
  })
}

const list = <Item extends Group | Asset, SortBy extends string>(
  account: Account,
  request: ActionRequest,
  { filter, sorts, cachedSort, all, keyOf, textOf, foreign }: Listing<Item, SortBy>,
): ActionResult => {
  const { settings, library } = account
  const fields = fieldsOf(request.members)
  const by = fields.oneOf('SortBy', sorts) ?? 'CreateTime'
  const down = fields.oneOf('SortOrder', ['Desc', 'Asc']) !== 'Asc'
  const queryHash = queryHashOf(request.action, request.project, filter, by, down)
  const window = readPageRequest(fields, queryHash, settings.maxPageDepth)

  const key = (item: Item) => keyOf(item, by)
  const items = cachedSort(queryHash, library.revision(), () => sorted(all(), key, down))
  const { page, ...paging } = pageOf(items, window, { queryHash, down, keyOf: key })
  const text = (item: Item) => textOf(item, account, request)
  return { list: { ...paging, items: page.map(text), foreignItem: () => text(foreign()) } }
}

const filterOf = (request: ActionRequest): Filter => {
  const given = fieldsOf(request.members).object('Filter')
  if (given === undefined && !request.isRest) throw missing('Filter')
  const fields = fieldsIn(given ?? {})
  const type = fields.oneOf('GroupType', ['AIGC', 'LivenessFace'])
  if (type === undefined && !request.isRest) throw missing('Filter.GroupType')
  return {
    type: type ?? 'AIGC',
    groupIds: groupIdsOf(fields),
    name: (fields.text('Name', maxNameLength) ?? '').toLowerCase(),
    statuses: request.action === 'ListAssets' ? statusesOf(fields) : [],
  }
}

const groupIdsOf = (fields: Fields): string[] => {
  const ids = fields.list('GroupIds')
  if (ids.length > maxGroupIds) throw invalid('GroupIds', `GroupIds must have at most ${maxGroupIds} entries.`)
  return [...new Set(ids)].sort()
}

const statusesOf = (fields: Fields): string[] => {
  const statuses = fields.list('Statuses')
  const known = statuses.every((status) => assetStatuses.includes(status))
  if (!known) throw invalid('Statuses', `Statuses must be of ${assetStatuses.join(', ')}.`)
  return [...new Set(statuses)].sort()
}

/** The groups of the project that match a filter. Unknown ids are ignored; without ids, all groups match. */
const groupsOf = ({ library }: Account, { project }: ActionRequest, { groupIds, type }: Filter): Group[] => {
  const groups = groupIds.length > 0 ? groupIds.flatMap((id) => library.group(id) ?? []) : library.groups()
  return groups.filter((group) => group.project === project && group.type === type)
}

const isListed = ({ type }: Group, { settings }: Account): boolean =>
  type !== 'LivenessFace' || settings.faceGroupsListed

const hasName = ({ name }: Group | Asset, filter: Filter): boolean =>
  filter.name === '' || name.toLowerCase().includes(filter.name)

// sorts by whole seconds, like the times in the response, so equal sort keys are common
const second = (ms: number): number => Math.floor(ms / 1000)

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
const foreignGroup = (library: Library, requestedIds: readonly string[]): Group => {
  if (requestedIds.length === 0) return fictionalGroup
  return library.groups().find((group) => !requestedIds.includes(group.id)) ?? fictionalGroup
}

/** An asset outside the requested groups: another asset of the account, or a fictional one. */
const foreignAsset = (library: Library, requestedIds: readonly string[]): Asset => {
  const found = requestedIds.length > 0 && library.assets().find((asset) => !requestedIds.includes(asset.groupId))
  if (found) return found
  const id = 'asset-20200101000000-other'
  const file = { url: 'https://files.example/other.png', moderation: '{"Strategy":"Default"}' }
  return { ...fictionalGroup, ...file, id, groupId: fictionalGroup.id, type: 'Image', status: 'Active' }
}
