import type { JsonBody } from '../shared/body.ts'
import { type ListQuery, type MediaKind, type Operation, type Outgoing, pagingOf } from './operation.ts'
import { nowhere, path } from './path.ts'
import { withoutProject } from './project.ts'

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
  const outgoing = (method: string, path: string, body?: JsonBody, from = base): Outgoing =>
    body
      ? {
          method,
          url: from + path,
          headers: { ...headers, 'content-type': 'application/json' },
          body: body.edit(withoutProject).bytes,
        }
      : { method, url: from + path, headers }

  return {
    secrets: [key],
    outgoing(operation: Operation): Outgoing {
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

const listParameters = (query: ListQuery): string =>
  queryString({
    GroupType: query.groupType,
    GroupIds: query.groups.map((group) => group.id).join(','),
    SortBy: query.sortBy,
    SortOrder: query.sortOrder,
    ...pagingOf(query.paging),
    Name: query.name,
    Statuses: query.statuses?.join(','),
  })

const findParameters = (wanted: { groupType: string; name: string; nextToken?: string }): string =>
  queryString({ GroupType: wanted.groupType, Name: wanted.name, MaxResults: 100, NextToken: wanted.nextToken })

/** What is undefined is left out. */
const queryString = (parameters: Readonly<Record<string, string | number | undefined>>): string => {
  let text = ''
  for (const name in parameters) {
    const value = parameters[name]
    if (value !== undefined) text += `${text && '&'}${name}=${encodeURIComponent(String(value).toWellFormed())}`
  }
  return text
}
