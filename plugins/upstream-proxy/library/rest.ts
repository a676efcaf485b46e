import type { JsonBody } from '../../shared/http/body/body.ts'
import { checkKey, checkUpstreamUrl } from '../../shared/plugin/options.ts'
import {
  type ListQuery,
  type MediaKind,
  type Operation,
  type Paging,
  pagingOf,
  searchOf,
  type UpstreamRequest,
} from './operation.ts'
import { notFound, path } from './path.ts'
import { withoutProjectName } from './project-name.ts'

/** Options of the kind `rest`. */
export interface RestOptions {
  /** Base URL. It corresponds to `/api/media/proxy` of the gateway: paths such as `/assets` follow it. */
  readonly url: string
  /** The key that the client sends as bearer token. */
  readonly key: string
}

/**
 * A kind of upstream with the same paths as the gateway. Lists have their parameters in the query string. Throws
 * TypeError for a wrong URL or key.
 *
 * @example
 * const kind = rest({ url: 'https://library.example', key: 'sk-upstream' })
 */
export const rest = ({ url, key }: RestOptions): MediaKind => {
  checkUpstreamUrl('url', url)
  checkKey('key', key)
  const base = url.replace(/\/+$/, '')
  const headers = { authorization: `Bearer ${key}` }
  const outgoing = (method: string, path: string, body?: JsonBody, at = base): UpstreamRequest =>
    body
      ? {
          method,
          url: at + path,
          headers: { ...headers, 'content-type': 'application/json' },
          body: body.edit(withoutProjectName).bytes,
        }
      : { method, url: at + path, headers }

  return {
    secrets: [key],
    faceVerification: 'rest',
    outgoing(operation: Operation): UpstreamRequest {
      switch (operation.action) {
        case 'CreateAssetGroup':
          return outgoing('POST', '/assets/groups', operation.body)
        case 'ListAssetGroups':
          return outgoing('GET', `/assets/groups?${listParameters(operation.query)}`)
        case 'FindAssetGroups':
          return outgoing('GET', `/assets/groups?${findParameters(operation)}`)
        case 'UpdateAssetGroup':
          return outgoing(operation.method, path`/assets/groups/${operation.group.id}`, operation.body)
        case 'DeleteAssetGroup':
          return outgoing('DELETE', path`/assets/groups/${operation.group.id}`)
        case 'CreateAsset':
          return outgoing('POST', '/assets', operation.body)
        case 'ListAssets':
          return outgoing('GET', `/assets?${listParameters(operation.query)}`)
        case 'GetAsset':
          return outgoing('GET', assetPath(operation.id))
        case 'UpdateAsset':
          return outgoing(operation.method, assetPath(operation.asset.id), operation.body)
        case 'DeleteAsset':
          return outgoing('DELETE', assetPath(operation.asset.id))
        case 'GetAssetQuota':
          throw new TypeError('this kind of upstream has no quota')
        case 'CreateVisualValidateSession':
          return outgoing('POST', '', operation.body, faceVerificationsUrl(base))
        case 'GetVisualValidateResult':
          return outgoing('GET', path`/${operation.verification.id}`, undefined, faceVerificationsUrl(base))
      }
    },
  }
}

/** The URL of face verifications. It replaces the last segment of the base URL. */
const faceVerificationsUrl = (base: string): string => new URL('face-verifications', base).href

/** `/assets/groups` is the path of the groups, so no asset can have the id `groups`. */
const assetPath = (id: string): string => {
  if (id.toLowerCase() === 'groups') throw notFound()
  return path`/assets/${id}`
}

const listParameters = (query: ListQuery): string => {
  const { groupType, groups, sortBy, sortOrder, name, statuses } = query
  const { PageNumber, PageSize, MaxResults, NextToken }: Paging = pagingOf(query.paging)
  const ids = groups.map((group) => group.id).join(',')
  return (
    `GroupType=${encoded(groupType)}&GroupIds=${encoded(ids)}&SortBy=${encoded(sortBy)}&SortOrder=${sortOrder}` +
    parameter('PageNumber', PageNumber) +
    parameter('PageSize', PageSize) +
    parameter('MaxResults', MaxResults) +
    parameter('NextToken', NextToken) +
    parameter('Name', name) +
    parameter('Statuses', statuses?.join(','))
  )
}

const findParameters = (operation: Operation & { action: 'FindAssetGroups' }): string => {
  const { Filter, SortBy, SortOrder, MaxResults, NextToken } = searchOf(operation)
  return (
    `GroupType=${encoded(Filter.GroupType)}&Name=${encoded(Filter.Name)}&SortBy=${SortBy}&SortOrder=${SortOrder}` +
    parameter('MaxResults', MaxResults) +
    parameter('NextToken', NextToken)
  )
}

/** Empty for an undefined value. */
const parameter = (name: string, value: string | number | undefined): string =>
  value === undefined ? '' : `&${name}=${encoded(value)}`

const encoded = (value: string | number): string =>
  typeof value === 'number' ? String(value) : encodeURIComponent(value.toWellFormed())
