import { ApiError } from '../../api/api-error.js'
import { w } from '../words/words.js'

/** A value of a form that cannot be accepted, with the words to show at its field. */
export class FieldFault extends Error {
  /**
   * @param {string} field its name in the form, such as `name` or `limits[1].amount`
   * @param {string} message
   */
  constructor(field, message) {
    super(message)
    this.field = field
  }
}

/**
 * What the messages of the admin API are about, where they name no field themselves.
 * @type {readonly (readonly [RegExp, string, string])[]}
 */
const known = [
  [/^there is a user of that name/, 'name', w.faults.userNameTaken],
  [/^there is a team of that name/, 'name', w.faults.teamNameTaken],
  [/^there is a user with that external_id/, 'external_id', w.faults.externalIdTaken],
  [/^a password must not be the name/, 'password', w.faults.passwordIsName],
  [/^a password has/, 'password', w.faults.password],
  [/^there is no such team/, 'team', w.faults.noTeam],
  [/^there is no such user/, 'user', w.faults.noUser],
  [/^a group id has/, 'group_id', w.faults.groupId],
  [/^the upstream has created another group/, 'group_id', w.faults.otherGroup],
  [/^the group has an owner/, 'group_id', w.faults.groupTaken],
  [/^the user has a group of that type and name/, 'user', w.faults.groupNameTaken],
  [/^the upstream id is not valid/, 'upstream_id', w.faults.upstreamId],
  [/^another video task has that upstream id/, 'upstream_id', w.faults.upstreamIdTaken],
  [/^the last enabled admin/, '', w.faults.lastAdmin],
  [/^a service user has tokens/, '', w.faults.service],
  [/^the user is disabled/, '', w.faults.disabled],
  [/^the team has members/, '', w.faults.teamHasMembers],
  [/^the video task needs no decision/, '', w.faults.decided],
  [/^the audit trail is being verified/, '', w.audit.running],
  [/^the user has too many valid tokens/, '', w.faults.tooManyTokens],
]

/**
 * The fault of a form, from an error of its request. Undefined: the request has failed for another reason.
 * @param {unknown} error
 * @returns {{ field: string, message: string } | undefined}
 */
export const faultOf = (error) => {
  if (error instanceof FieldFault) return error
  if (!(error instanceof ApiError) || (error.status !== 400 && error.status !== 409)) return undefined
  return faultIn(error.reported)
}

/**
 * The fault that a message of the admin API is about.
 * @param {string} message
 * @returns {{ field: string, message: string } | undefined}
 */
export const faultIn = (message) => {
  for (const [pattern, field, words] of known) if (pattern.test(message)) return { field, message: words }
  const [, field, rest] = /^([a-z_]+(?:\[\d+\](?:\.[a-z_]+)?)?) (must .+)$/s.exec(message) ?? []
  if (field === undefined || rest === undefined) return undefined
  const plain = /** @type {Record<string, string>} */ (w.faults.fields)[field.replace(/\[\d+\]/, '')]
  return { field, message: plain ?? w.faults.rejected(rest) }
}
