import { type Account, type Action, type Ask, checkQuota } from './account.ts'
import { type Fields, fieldsOf } from './fields.ts'
import { groupAsked } from './groups.ts'
import { ASSET_ID } from './ids.ts'
import { ASSET_FIELDS, assetText, field } from './items.ts'
import { objectOf } from './members.ts'
import type { Asset } from './records.ts'
import { invalid, missing, Refusal } from './refusal.ts'

const NAME_MOST = 64

/** Page 2318271. By address only; the file is judged later, so a bad one makes a Failed asset and not an error. */
export const createAsset: Action = (account, ask) => {
  const fields = fieldsOf(ask.members)
  const groupId = fields.needed('GroupId')
  const url = httpsUrl(fields.needed('URL'))
  const type = fields.word('AssetType', ['Image', 'Video', 'Audio'])
  if (type === undefined) throw missing('AssetType')
  const name = fields.text('Name', NAME_MOST)
  const moderation = checkedModeration(fields, ask)
  const group = groupAsked(account, ask, groupId, 'GroupId')
  checkQuota(account)
  const extra = ask.members.filter((member) => !ASSET_FIELDS.has(member.name))
  const asset = account.library.addAsset({
    ...{ groupId: group.id, url, type, name: name ?? '', status: 'Processing', extra },
    ...(moderation === undefined ? {} : { moderation }),
  })
  return { result: objectOf([field('Id', asset.id)]) }
}

/** Page 2318274. */
export const getAsset: Action = (account, ask) => {
  const asset = assetAsked(account, ask)
  return { result: assetText(asset, { settings: account.settings, plain: ask.plain, now: account.library.now() }) }
}

/** Page 2318277. Only the name can change; whatever else is sent is ignored. */
export const updateAsset: Action = (account, ask) => {
  const asset = assetAsked(account, ask)
  account.library.renameAsset(asset.id, fieldsOf(ask.members).needed('Name', NAME_MOST))
  return { result: objectOf([field('Id', asset.id)]) }
}

/** Page 2318278. */
export const deleteAsset: Action = (account, ask) => {
  account.library.deleteAsset(assetAsked(account, ask).id)
  return { result: '{}' }
}

function assetAsked({ library }: Account, { members, project }: Ask): Asset {
  const id = fieldsOf(members).needed('Id')
  const asset = library.asset(id)
  if (asset?.project === project) return asset
  if (!ASSET_ID.test(id)) throw invalid('AssetID', `The asset id ${id} is malformed.`)
  throw new Refusal(404, 'NotFound.asset_id', `The asset ${id} is not found.`)
}

function httpsUrl(text: string): string {
  if (!URL.canParse(text) || new URL(text).protocol !== 'https:') {
    throw invalid('URL', 'The parameter URL must be an https address.')
  }
  return text
}

function checkedModeration(fields: Fields, { members }: Ask): string | undefined {
  const strategy = fields.object('Moderation')?.Strategy
  if (strategy !== undefined && strategy !== 'Default' && strategy !== 'Skip') {
    throw invalid('Moderation', 'Moderation.Strategy must be Default or Skip.')
  }
  return fields.object('Moderation') && members.findLast((member) => member.name === 'Moderation')?.value
}
