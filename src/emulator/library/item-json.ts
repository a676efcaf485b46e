import type { Settings } from '../options.ts'
import { objectOf } from '../shared/members.ts'
import { formatTime } from '../shared/times.ts'
import type { Asset, Group } from './records.ts'

/** How to serialize a record. `withoutProject` leaves out `ProjectName`, which the `rest` API does not have. */
export interface SerializeOptions {
  readonly settings: Settings
  readonly withoutProject: boolean
  /** the link to the file of an asset */
  readonly linkOf: (asset: Asset) => string
}

/** Serializes a group as JSON (vendor page 2318275). `listed` adds `Title`, an undocumented field of list items. */
export const groupText = (group: Group, { settings, withoutProject }: SerializeOptions, listed = false): string =>
  objectOf([
    field('Id', group.id),
    field('Name', group.name),
    ...(listed ? [field('Title', group.name)] : []),
    field('Description', group.description),
    field('GroupType', group.type),
    ...(withoutProject ? [] : [field('ProjectName', group.project)]),
    field('CreateTime', formatTime(group.createTime, settings.times, group.tieBreaker)),
    field('UpdateTime', formatTime(group.updateTime, settings.times, group.tieBreaker)),
    ...group.extra,
  ])

/** Serializes an asset as JSON (vendor page 2318274). */
export const assetText = (asset: Asset, { settings, withoutProject, linkOf }: SerializeOptions): string => {
  const { error } = asset
  return objectOf([
    field('Id', asset.id),
    field('Name', asset.name),
    field('URL', linkOf(asset)),
    field('AssetType', asset.type),
    field('GroupId', asset.groupId),
    field('Status', asset.status),
    ...(error ? [field('Error', { Code: error.code, Message: error.message })] : []),
    { raw: `"Moderation":${asset.moderation}` },
    ...(withoutProject ? [] : [field('ProjectName', asset.project)]),
    field('CreateTime', formatTime(asset.createTime, settings.times, asset.tieBreaker)),
    field('UpdateTime', formatTime(asset.updateTime, settings.times, asset.tieBreaker)),
    ...asset.extra,
  ])
}

/** Field names of groups in responses. CreateAssetGroup does not store extra fields with these names. */
export const groupFields: ReadonlySet<string> = new Set([
  ...['Id', 'Name', 'Title', 'Description', 'GroupType', 'ProjectName', 'CreateTime', 'UpdateTime'],
])

/** Field names of assets in responses. CreateAsset does not store extra fields with these names. */
export const assetFields: ReadonlySet<string> = new Set([
  ...['Id', 'Name', 'URL', 'AssetType', 'GroupId', 'Status', 'Error', 'Moderation'],
  ...['ProjectName', 'CreateTime', 'UpdateTime', 'LastInferenceTime'],
])

/** Serializes one member of a JSON object. */
export const field = (name: string, value: unknown): { readonly raw: string } => ({
  raw: `"${name}":${JSON.stringify(value)}`,
})
