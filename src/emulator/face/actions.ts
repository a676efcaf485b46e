import { type Account, type Action, checkQuota } from '../account.ts'
import type { ActionRequest } from '../action.ts'
import { ArkError, invalid } from '../api/ark-error.ts'
import { type Fields, fieldsOf } from '../api/fields.ts'
import { field, objectOf } from '../shared/members.ts'
import { isBrowsable } from './options.ts'

/**
 * CreateVisualValidateSession (vendor page 2333587). In the `rest` API it creates a task and accepts any JSON object as
 * body. It checks the quota because a successful check creates a group.
 */
export const createVisualValidateSession: Action = (account, request) => {
  if (request.isRest) return createTask(account, request)
  const callbackUrl = requestedCallback(fieldsOf(request.members))
  checkQuota(account)
  const session = account.faces.sessions.create({ callbackUrl, project: request.project })
  const fields = [
    field('BytedToken', session.bytedToken),
    urlField('H5Link', account.faces.linkOf(session)),
    urlField('CallbackURL', callbackUrl),
  ]
  return { result: objectOf(fields) }
}

/** GetVisualValidateResult (vendor page 2333588). A BytedToken expires with its session, whatever the result. */
export const getVisualValidateResult: Action = (account, request) => {
  if (request.isRest) return showTask(account, request)
  const { settings, library, faces } = account
  const session = faces.sessions.find(fieldsOf(request.members).required('BytedToken'))
  if (session?.project !== request.project || library.now() >= session.expireTime) {
    throw new ArkError(404, 'NotFound.byted_token', 'The BytedToken is not found or has expired.')
  }
  if (session.groupId === undefined && settings.facePending === 'error') {
    throw new ArkError(404, 'NotFound.group_id', 'The verification of this BytedToken is not completed.')
  }
  return { result: objectOf([field('GroupId', session.groupId ?? '')]) }
}

const createTask = (account: Account, { project }: ActionRequest) => {
  checkQuota(account)
  const { id, status, session } = account.faces.verifications.create(project)
  const fields = [
    field('verification_id', id),
    field('status', status),
    urlField('h5_url', account.faces.linkOf(session)),
    field('expires_at', Math.floor(session.expireTime / 1000)),
  ]
  return { result: objectOf(fields) }
}

const showTask = ({ faces }: Account, { members }: ActionRequest) => {
  const task = faces.verifications.find(fieldsOf(members).required('Id'))
  if (task === undefined) throw new ArkError(404, 'NotFound.verification_id', 'verification not found')
  const { id, status, session } = task
  const group = status === 'verified' ? [field('group_id', session.groupId)] : []
  return { result: objectOf([field('verification_id', id), field('status', status), ...group]) }
}

const requestedCallback = (fields: Fields): string => {
  const url = fields.required('CallbackURL')
  if (isBrowsable(url)) return url
  throw invalid('CallbackURL', 'The parameter CallbackURL must be an absolute http or https URL.')
}

/**
 * A URL with `&` escaped as `\u0026`, as in the vendor's JSON. A client that reads the URL without a JSON parser gets a
 * broken one.
 */
const urlField = (name: string, url: string): { readonly raw: string } => ({
  raw: field(name, url).raw.replaceAll('&', '\\u0026'),
})
