import type { JsonBody } from '../../shared/http/body/body.ts'
import type { Json } from '../../shared/json/json.ts'
import { Problem } from '../../shared/problem.ts'
import { limitLength } from '../../shared/text.ts'
import { rejectDuplicateKeys } from './duplicate-keys.ts'

/** The fields of a group that the gateway records when the group is created or changed. */
export interface GroupFields {
  readonly name: string | undefined
  readonly description: string | undefined
}

/** Checks the body of "create asset group". Throws Problem 400 for the first error. */
export const readNewGroup = (body: JsonBody): GroupFields & { readonly name: string } => {
  if (!body.json.get('Name')) throw nameRequired()
  const { name = '', description } = readGroupChange(body)
  const type = body.json.get('GroupType')
  if (type && type.string() !== 'AIGC') throw new Problem(400, 'GroupType only supports AIGC')
  return { name, description }
}

/** Checks the body of a change to a group. An absent field stays unchanged. Throws Problem 400. */
export const readGroupChange = ({ json }: JsonBody): GroupFields => {
  rejectDuplicateKeys(json)
  rejectMisspelt(json)
  const name = json.get('Name')?.string()
  if (json.get('Name') && !name) throw nameRequired()
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

/**
 * Rejects other spellings of `Name` and `GroupType`: an upstream that ignores case would use a value that the gateway
 * has not checked.
 */
const rejectMisspelt = (json: Json): void => {
  for (const { key } of json.members()) {
    const spelling = ['Name', 'GroupType'].find((name) => name.toLowerCase() === key.toLowerCase())
    if (spelling !== undefined && spelling !== key) throw new Problem(400, `${key} has to be written ${spelling}`)
  }
}

const nameRequired = () => new Problem(400, 'Name is required')

/**
 * Databases reject NUL, and store every lone surrogate as the same replacement character: two different names would
 * become the same.
 */
const requireStorable = (field: string, text: string): void => {
  if (text.includes('\0') || !text.isWellFormed()) throw new Problem(400, `${field} must be well-formed text`)
}
