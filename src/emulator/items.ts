import { createHmac } from 'node:crypto'
import { objectOf } from './members.ts'
import type { Asset, Group } from './records.ts'
import type { Settings } from './settings.ts'
import { signedTime, writtenTime } from './times.ts'

/** How a record looks in answers. `plain` leaves out what the rest shape does not know: projects. */
export interface Look {
  readonly settings: Settings
  readonly plain: boolean
  /** ms since 1970; links are signed as of this moment */
  readonly now: number
}

/** A group as JSON text (page 2318275). `listed` adds the undocumented `Title` of list items. */
export function groupText(group: Group, { settings, plain }: Look, listed = false): string {
  return objectOf([
    field('Id', group.id),
    field('Name', group.name),
    ...(listed ? [field('Title', group.name)] : []),
    field('Description', group.description),
    field('GroupType', group.type),
    ...(plain ? [] : [field('ProjectName', group.project)]),
    field('CreateTime', writtenTime(group.createTime, settings.times, group.tie)),
    field('UpdateTime', writtenTime(group.updateTime, settings.times, group.tie)),
    ...group.extra,
  ])
}

/** An asset as JSON text (page 2318274). */
export function assetText(asset: Asset, look: Look): string {
  const { settings, plain } = look
  const { error } = asset
  return objectOf([
    field('Id', asset.id),
    field('Name', asset.name),
    field('URL', signedLink(asset, look)),
    field('AssetType', asset.type),
    field('GroupId', asset.groupId),
    field('Status', asset.status),
    ...(error ? [field('Error', { Code: error.code, Message: error.message })] : []),
    { raw: `"Moderation":${asset.moderation}` },
    ...(plain ? [] : [field('ProjectName', asset.project)]),
    field('CreateTime', writtenTime(asset.createTime, settings.times, asset.tie)),
    field('UpdateTime', writtenTime(asset.updateTime, settings.times, asset.tie)),
    ...asset.extra,
  ])
}

/** Names that answers use themselves; a create call cannot plant them. */
export const GROUP_FIELDS: ReadonlySet<string> = new Set([
  ...['Id', 'Name', 'Title', 'Description', 'GroupType', 'ProjectName', 'CreateTime', 'UpdateTime'],
])

/** Names that answers use themselves; a create call cannot plant them. */
export const ASSET_FIELDS: ReadonlySet<string> = new Set([
  ...['Id', 'Name', 'URL', 'AssetType', 'GroupId', 'Status', 'Error', 'Moderation'],
  ...['ProjectName', 'CreateTime', 'UpdateTime', 'LastInferenceTime'],
])

/** One member of an object as JSON text. */
export function field(name: string, value: unknown): { readonly raw: string } {
  return { raw: `"${name}":${JSON.stringify(value)}` }
}

/** A link of the object store that is good for 12 hours from this read, so two reads seldom show the same one. */
function signedLink(asset: Asset, { settings, now }: Look): string {
  const ending = { Image: 'png', Video: 'mp4', Audio: 'mp3' }[asset.type]
  const path = `/${asset.project}/${asset.groupId}/${asset.id}.${ending}`
  const date = signedTime(now)
  const signature = createHmac('sha256', settings.secretKey).update(`${date}\n${path}`).digest('hex')
  const scope = encodeURIComponent(`${settings.accessKey}/${date.slice(0, 8)}/${settings.region}/tos/request`)
  const signed = `X-Tos-Algorithm=TOS4-HMAC-SHA256&X-Tos-Credential=${scope}&X-Tos-Date=${date}&X-Tos-Expires=43200`
  const query = `${signed}&X-Tos-Signature=${signature}&X-Tos-SignedHeaders=host`
  return `https://ark-media-asset.tos-${settings.region}.volces.com${encodeURI(path)}?${query}`
}
