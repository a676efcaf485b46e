import { type Account, type Action, checkQuota } from '../account.ts'
import type { ActionRequest } from '../action.ts'
import { ArkError, invalid, missing } from '../api/ark-error.ts'
import { fieldsOf } from '../api/fields.ts'
import { groupId } from '../shared/ids.ts'
import { field, objectOf } from '../shared/members.ts'
import { groupFields, groupText } from './item-json.ts'
import type { Group } from './records.ts'

const maxNameLength = 64
const maxDescriptionLength = 300

/** CreateAssetGroup (vendor page 2318270). Names are not unique: a repeated call creates a second group. */
export const createAssetGroup: Action = (account, request) => {
  const fields = fieldsOf(request.members)
  const name = fields.required('Name', maxNameLength)
  const description = fields.text('Description', maxDescriptionLength)
  fields.oneOf('GroupType', ['AIGC'])
  checkQuota(account)
  const extra = request.members.filter((member) => !groupFields.has(member.name))
  const group = account.library.addGroup({ name, description, project: request.project, extra })
  return { result: objectOf([field('Id', group.id)]) }
}

/** GetAssetGroup (vendor page 2318275). */
export const getAssetGroup: Action = (account, request) => {
  const group = requestedGroup(account, request, fieldsOf(request.members).required('Id'))
  return { result: groupText(group, account, request) }
}

/** UpdateAssetGroup (vendor page 2318276). */
export const updateAssetGroup: Action = (account, request) => {
  const fields = fieldsOf(request.members)
  const group = requestedGroup(account, request, fields.required('Id'))
  const name = fields.text('Name', maxNameLength)
  const description = fields.text('Description', maxDescriptionLength)
  if (name === undefined && description === undefined) throw missing('Name')
  if (name === '') throw invalid('Name', 'The parameter Name must not be empty.')
  account.library.changeGroup(group.id, { name, description })
  return { result: objectOf([field('Id', group.id)]) }
}

/**
 * DeleteAssetGroup (vendor page 2341606). Deletes its assets too. A LivenessFace group cannot be deleted while its
 * authorization is valid.
 */
export const deleteAssetGroup: Action = (account, request) => {
  const group = requestedGroup(account, request, fieldsOf(request.members).required('Id'))
  if (group.type === 'LivenessFace') {
    throw new ArkError(
      403,
      'OperationDenied.LivenessFace',
      'The authorisation of this LivenessFace group is still valid.',
    )
  }
  account.library.deleteGroup(group.id)
  return { result: '{}' }
}

/**
 * The group with this id in the caller's project. Throws 400 for a malformed id, 404 otherwise, also for a group of
 * another project.
 */
export const requestedGroup = (
  { library }: Account,
  { project }: ActionRequest,
  id: string,
  name = 'GroupID',
): Group => {
  const group = library.group(id)
  if (group?.project === project) return group
  if (!groupId.test(id)) throw invalid(name, `The group id ${id} is malformed.`)
  throw new ArkError(404, 'NotFound.group_id', `The group ${id} is not found.`)
}
