import type { JsonBody } from '../../shared/http/body/body.ts'
import { Problem } from '../../shared/problem.ts'
import { ownershipMembersOf, rejectDuplicateKeys, rejectOtherId } from './duplicate-keys.ts'
import { groupTypes } from './lists.ts'

/** Checks the fields of "create asset" that decide about ownership. The upstream validates the others. */
export const readNewAsset = (body: JsonBody): { readonly group: string; readonly groupType: string } => {
  rejectDuplicateKeys(body.json)
  const type = body.json.get('GroupType')
  return checkGroup(body.json.get('GroupId')?.string(), type ? type.string() : 'AIGC')
}

/** Checks the group of a creation. */
export const checkGroup = (
  group: string | undefined,
  groupType: string | undefined,
): { readonly group: string; readonly groupType: string } => {
  if (!group) throw new Problem(400, 'group_id is required')
  if (!groupTypes.some((known) => known === groupType)) {
    throw new Problem(400, `GroupType must be one of ${groupTypes.join(', ')}`)
  }
  return { group, groupType: groupType ?? '' }
}

/** Removes `GroupType` from the body: only the gateway uses it. */
export const withoutGroupType = (body: JsonBody): JsonBody =>
  body.edit((json) =>
    json.edit(
      ownershipMembersOf(json).flatMap(({ meant, key, object }) =>
        object === 0 && meant === 'grouptype' ? [[key, undefined]] : [],
      ),
    ),
  )

/**
 * All group ids in a body, at any depth and in any spelling of the key. The caller must own each of them. A value that
 * is not a string yields undefined, which no caller owns.
 */
export const groupsNamed = ({ json }: JsonBody): readonly (string | undefined)[] => {
  const named: (string | undefined)[] = []
  for (const { meant, value } of ownershipMembersOf(json)) {
    if (meant === 'groupid') named.push(value.string())
    if (meant === 'groupids')
      named.push(...(value.isArray ? value.elements().map((id) => id.string()) : [value.string()]))
  }
  return named
}

/** Checks the body of "modify asset": an id in it must be the id in the path. */
export const readAssetChange = (body: JsonBody, asset: string): void => {
  rejectDuplicateKeys(body.json)
  rejectOtherId(body.json, asset)
}
