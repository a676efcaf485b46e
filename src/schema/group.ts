import type { JsonBody } from '../../plugins/shared/body.ts'
import type { Json } from '../../plugins/shared/json.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { limitLength } from '../../plugins/shared/text.ts'
import { refuseDuplicateKeys } from './duplicate-keys.ts'

/** What the gateway has to know of a group that is created or changed. */
export interface GroupFields {
  readonly name: string | undefined
  readonly description: string | undefined
}

/** Checks the body of "create asset group", in the order of the document's table. */
export const readNewGroup = (body: JsonBody): GroupFields & { readonly name: string } => {
  if (!body.json.get('Name')) throw required()
  const { name = '', description } = readGroupChange(body)
  const type = body.json.get('GroupType')
  if (type && type.string() !== 'AIGC') throw new Problem(400, 'GroupType only supports AIGC')
  return { name, description }
}

/** Checks the body of a change to a group: what is absent stays as it is. */
export const readGroupChange = ({ json }: JsonBody): GroupFields => {
  refuseDuplicateKeys(json)
  refuseMisspelt(json)
  const name = json.get('Name')?.string()
  if (json.get('Name') && !name) throw required()
  if (name !== undefined) {
    limitLength('Name', name, 64)
    requireStorable('Name', name)
  }
  const description = json.get('Description')?.string()
  if (json.get('Description') && description === undefined) throw new Problem(400, 'Description must be a string')
  if (description !== undefined) {
    limitLength('Description', description, 300)
    requireStorable('Description', description)
  }
  return { name, description }
}

/** Spelled otherwise, an upstream that folds case would take for the name or type what was not checked as such. */
const refuseMisspelt = (json: Json): void => {
  for (const { key } of json.members()) {
    const meant = ['Name', 'GroupType'].find((name) => name.toLowerCase() === key.toLowerCase())
    if (meant !== undefined && meant !== key) throw new Problem(400, `${key} has to be written ${meant}`)
  }
}

const required = () => new Problem(400, 'Name is required')

/** Databases refuse NUL, and store every lone surrogate as the same replacement character: two names would become one. */
const requireStorable = (field: string, text: string): void => {
  if (text.includes('\0') || !text.isWellFormed()) throw new Problem(400, `${field} must be well-formed text`)
}
