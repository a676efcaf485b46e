import { type Account, type Action, checkQuota } from '../account.ts'
import type { ActionRequest } from '../action.ts'
import { ArkError, invalid, missing } from '../api/ark-error.ts'
import { type Fields, fieldsOf } from '../api/fields.ts'
import { assetId } from '../shared/ids.ts'
import { isLoopback } from '../shared/loopback.ts'
import { field, objectOf } from '../shared/members.ts'
import { requestedGroup } from './groups.ts'
import { assetFields, assetText } from './item-json.ts'
import type { Asset } from './records.ts'

const maxNameLength = 64

/**
 * CreateAsset (vendor page 2318271). Takes a URL only. The file is checked during processing: a bad one gives a Failed
 * asset, no error.
 */
export const createAsset: Action = (account, request) => {
  const fields = fieldsOf(request.members)
  const groupId = fields.required('GroupId')
  const url = httpsUrl(fields.required('URL'))
  const type = fields.oneOf('AssetType', ['Image', 'Video', 'Audio'])
  if (type === undefined) throw missing('AssetType')
  const name = fields.text('Name', maxNameLength)
  const moderation = checkedModeration(fields, request)
  const group = requestedGroup(account, request, groupId, 'GroupId')
  checkQuota(account)
  const extra = request.members.filter((member) => !assetFields.has(member.name))
  const asset = account.library.addAsset({
    ...{ groupId: group.id, url, type, name: name ?? '', status: 'Processing', extra },
    ...(moderation === undefined ? {} : { moderation }),
  })
  account.files.keep(asset)
  return { result: objectOf([field('Id', asset.id)]) }
}

/** GetAsset (vendor page 2318274). */
export const getAsset: Action = (account, request) => ({
  result: assetText(requestedAsset(account, request), account, request),
})

/** UpdateAsset (vendor page 2318277). Changes only the name and ignores all other fields. */
export const updateAsset: Action = (account, request) => {
  const asset = requestedAsset(account, request)
  account.library.renameAsset(asset.id, fieldsOf(request.members).required('Name', maxNameLength))
  return { result: objectOf([field('Id', asset.id)]) }
}

/** DeleteAsset (vendor page 2318278). */
export const deleteAsset: Action = (account, request) => {
  account.library.deleteAsset(requestedAsset(account, request).id)
  return { result: '{}' }
}

const requestedAsset = ({ library }: Account, { members, project }: ActionRequest): Asset => {
  const id = fieldsOf(members).required('Id')
  const asset = library.asset(id)
  if (asset?.project === project) return asset
  if (!assetId.test(id)) throw invalid('AssetID', `The asset id ${id} is malformed.`)
  throw new ArkError(404, 'NotFound.asset_id', `The asset ${id} is not found.`)
}

/** A gateway on this machine may have no https: the links to its uploads are accepted too. */
const httpsUrl = (text: string): string => {
  const { protocol = '', hostname = '' } = URL.canParse(text) ? new URL(text) : {}
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) {
    throw invalid('URL', 'The parameter URL must be an https address.')
  }
  return text
}

const checkedModeration = (fields: Fields, { members }: ActionRequest): string | undefined => {
  const strategy = fields.object('Moderation')?.Strategy
  if (strategy !== undefined && strategy !== 'Default' && strategy !== 'Skip') {
    throw invalid('Moderation', 'Moderation.Strategy must be Default or Skip.')
  }
  return fields.object('Moderation') && members.findLast((member) => member.name === 'Moderation')?.value
}
