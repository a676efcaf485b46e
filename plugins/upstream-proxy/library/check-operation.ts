import { JsonBody } from '../../shared/http/body/body.ts'
import { requireOwned, requireReadable } from '../../shared/owned-id.ts'
import { type ListQuery, maxGroupsPerCall, type Operation } from './operation.ts'
import { notFound } from './path.ts'

/**
 * The operation to send. Throws 404 for an asset with an empty id, and TypeError for an operation that the types do not
 * permit, because a host app in JavaScript has no types, and the upstream takes a missing filter for the whole account.
 */
export const checkOperation = (operation: Operation): Operation => {
  switch (operation.action) {
    case 'ListAssetGroups':
    case 'ListAssets':
      return { ...operation, query: checkQuery(operation.query) }
    case 'FindAssetGroups':
      requireText('groupType', operation.groupType)
      requireText('name', operation.name)
      return operation
    case 'GetAsset':
      if (typeof operation.id !== 'string') throw new TypeError('id must be a text')
      if (operation.id === '') throw notFound()
      return operation
    case 'CreateAssetGroup':
    case 'CreateVisualValidateSession':
      requireBody(operation.body)
      return operation
    case 'CreateAsset':
    case 'UpdateAssetGroup':
      requireOwned('group', operation.group)
      requireBody(operation.body)
      return operation
    case 'UpdateAsset':
      requireOwned('asset', operation.asset)
      requireBody(operation.body)
      return operation
    case 'DeleteAssetGroup':
      requireOwned('group', operation.group)
      return operation
    case 'DeleteAsset':
      requireOwned('asset', operation.asset)
      return operation
    case 'GetAssetQuota':
      return operation
    case 'GetVisualValidateResult':
      requireOwned('verification', operation.verification)
      return operation
    default:
      throw new TypeError('the upstream has no such action')
  }
}

/** A copy, because the array of the groups may change while the call waits for a rate limit. */
const checkQuery = (query: ListQuery): ListQuery => {
  const [first, ...others] = Array.isArray(query.groups) ? query.groups : []
  if (first === undefined || others.length >= maxGroupsPerCall)
    throw new TypeError(`groups must be 1 to ${maxGroupsPerCall} groups: use groupBatches`)
  requireText('groupType', query.groupType)
  const groups = [first, ...others] as const
  for (const group of groups) {
    requireReadable('group', group)
    if (group.account !== first.account) throw new TypeError('groups must be of one account: use groupBatches')
  }
  return { ...query, groups }
}

const requireText = (name: string, value: unknown): void => {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${name} must be a text, and not empty`)
}

const requireBody = (body: unknown): void => {
  if (!(body instanceof JsonBody)) throw new TypeError('body must be one that the gateway has read')
}
