import type { JsonBody } from '../../plugins/shared/body.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { decidingIn, refuseDuplicateKeys, refuseOtherId } from './duplicate-keys.ts'
import { groupTypes } from './lists.ts'

/** Checks what of "create asset" is the gateway's to check; the rest the upstream validates. */
export const readNewAsset = (body: JsonBody): { readonly group: string; readonly groupType: string } => {
  refuseDuplicateKeys(body.json)
  const group = body.json.get('GroupId')?.string()
  if (!group) throw new Problem(400, 'group_id is required')
  const type = body.json.get('GroupType')
  const groupType = type ? type.string() : 'AIGC'
  if (!groupTypes.some((known) => known === groupType)) {
    throw new Problem(400, `GroupType must be one of ${groupTypes.join(', ')}`)
  }
  return { group, groupType: groupType ?? '' }
}

/** The body without `GroupType`, which is the gateway's own parameter there. */
export const withoutGroupType = (body: JsonBody): JsonBody =>
  body.edit((json) =>
    json.edit(
      decidingIn(json).flatMap(({ meant, key, object }) =>
        object === 0 && meant === 'grouptype' ? [[key, undefined]] : [],
      ),
    ),
  )

/** Every group that a body names, at any depth and in any spelling: each must be the caller's. What is no text names none that anybody has. */
export const groupsNamed = ({ json }: JsonBody): readonly (string | undefined)[] => {
  const named: (string | undefined)[] = []
  for (const { meant, value } of decidingIn(json)) {
    if (meant === 'groupid') named.push(value.string())
    if (meant === 'groupids')
      named.push(...(value.isArray ? value.elements().map((id) => id.string()) : [value.string()]))
  }
  return named
}

/** Checks the body of "modify asset": an id in it may only repeat that of the path. */
export const readAssetChange = (body: JsonBody, asset: string): void => {
  refuseDuplicateKeys(body.json)
  refuseOtherId(body.json, asset)
}
