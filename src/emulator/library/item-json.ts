import type { Account } from '../account.ts'
import type { ActionRequest } from '../action.ts'
import { field, objectOf } from '../shared/members.ts'
import { formatTime } from '../shared/times.ts'
import type { Asset, Group } from './records.ts'

/** Serializes a group as JSON (vendor page 2318275). `listed` adds `Title`, an undocumented field of list items. */
export const groupText = (group: Group, { settings }: Account, request: ActionRequest, listed = false): string =>
  objectOf([
    field('Id', group.id),
    field('Name', group.name),
    ...(listed ? [field('Title', group.name)] : []),
    field('Description', group.description),
    field('GroupType', group.type),
    ...projectOf(group, request),
    field('CreateTime', formatTime(group.createTime, settings.times, group.tieBreaker)),
    field('UpdateTime', formatTime(group.updateTime, settings.times, group.tieBreaker)),
    ...group.extra,
  ])

/** Serializes an asset as JSON (vendor page 2318274). */
export const assetText = (asset: Asset, { settings, files }: Account, request: ActionRequest): string => {
  const { error } = asset
  return objectOf([
    field('Id', asset.id),
    field('Name', asset.name),
    field('URL', files.linkOf(asset)),
    field('AssetType', asset.type),
    field('GroupId', asset.groupId),
    field('Status', asset.status),
    ...(error ? [field('Error', { Code: error.code, Message: error.message })] : []),
    { raw: `"Moderation":${asset.moderation}` },
    ...projectOf(asset, request),
    field('CreateTime', formatTime(asset.createTime, settings.times, asset.tieBreaker)),
    field('UpdateTime', formatTime(asset.updateTime, settings.times, asset.tieBreaker)),
    ...asset.extra,
  ])
}

/** The `rest` API has no `ProjectName`. */
const projectOf = ({ project }: Group | Asset, { isRest }: ActionRequest) =>
  isRest ? [] : [field('ProjectName', project)]

/** Field names of groups in responses. CreateAssetGroup does not store extra fields with these names. */
export const groupFields: ReadonlySet<string> = new Set([
  ...['Id', 'Name', 'Title', 'Description', 'GroupType', 'ProjectName', 'CreateTime', 'UpdateTime'],
])

/** Field names of assets in responses. CreateAsset does not store extra fields with these names. */
export const assetFields: ReadonlySet<string> = new Set([
  ...['Id', 'Name', 'URL', 'AssetType', 'GroupId', 'Status', 'Error', 'Moderation'],
  ...['ProjectName', 'CreateTime', 'UpdateTime', 'LastInferenceTime'],
])
