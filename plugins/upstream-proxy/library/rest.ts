import type { JsonBody } from '../../shared/body.ts'
import {
  type ListQuery,
  type MediaKind,
  type Operation,
  type Paging,
  pagingOf,
  type UpstreamRequest,
} from './operation.ts'
import { nowhere, path } from './path.ts'
import { withoutProjectName } from './project-name.ts'

export interface RestOptions {
  /** Base address, ending where `/api/media/proxy` ends for the gateway's own clients. */
  readonly url: string
  /** Bearer key. */
  readonly key: string
}

/** An upstream of the same paths as the gateway itself. Lists go out as query strings. */
export const rest = ({ url, key }: RestOptions): MediaKind => {
  const base = url.replace(/\/+$/, '')
  const headers = { authorization: `Bearer ${key}` }
  const outgoing = (method: string, path: string, body?: JsonBody, from = base): UpstreamRequest =>
    body
      ? {
          method,
          url: from + path,
          headers: { ...headers, 'content-type': 'application/json' },
          body: body.edit(withoutProjectName).bytes,
        }
      : { method, url: from + path, headers }

  return {
    secrets: [key],
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
        case 'CreateVisualValidateSession':
          return outgoing('POST', '', operation.body, beside(base))
        case 'GetVisualValidateResult':
          return outgoing('GET', path`/${operation.verification.id}`, undefined, beside(base))
      }
    },
  }
}

/** Face verification lies beside the base's last segment, not below it. */
const beside = (base: string): string => new URL('face-verifications', base).href

/** `/assets/groups` is another path, and so no asset. */
const assetPath = (id: string): string => {
  if (id.toLowerCase() === 'groups') throw nowhere()
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

const findParameters = (wanted: { groupType: string; name: string; nextToken?: string }): string =>
  `GroupType=${encoded(wanted.groupType)}&Name=${encoded(wanted.name)}&MaxResults=100${parameter('NextToken', wanted.nextToken)}`

/** Nothing for what is undefined. */
const parameter = (name: string, value: string | number | undefined): string =>
  value === undefined ? '' : `&${name}=${encoded(value)}`

const encoded = (value: string | number): string =>
  typeof value === 'number' ? String(value) : encodeURIComponent(value.toWellFormed())
