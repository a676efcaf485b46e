import { type Clock, systemClock } from '../../shared/clock.ts'
import type { Json } from '../../shared/json/json.ts'
import { toJson } from '../../shared/json/json.ts'
import { checkKey, checkUpstreamUrl } from '../../shared/plugin/options.ts'
import { type ArkCredentials, arkAuthorization, arkDate, bodyHash } from './ark-signature.ts'
import {
  type ListQuery,
  type MediaKind,
  type Operation,
  pagingOf,
  searchOf,
  type UpstreamRequest,
} from './operation.ts'
import { withoutProjectName } from './project-name.ts'

/** Options of the kind `ark`. */
export interface ArkOptions extends ArkCredentials {
  /** Base URL, for example `https://ark.cn-beijing.volcengineapi.com`. */
  readonly url: string
  /** The account's project. Every request contains it. Default `default`. */
  readonly project?: string
  /** Default: the system clock. */
  readonly clock?: Pick<Clock, 'now'>
}

const version = '2024-01-01'

/**
 * A kind of upstream with the vendor's action API: signed requests `POST /?Action=…&Version=2024-01-01`. Throws
 * TypeError for a wrong URL or key.
 *
 * @example
 * const kind = ark({ url: 'https://ark.example', accessKey: 'AK…', secretKey: '…', region: 'cn-beijing' })
 */
export const ark = (options: ArkOptions): MediaKind => {
  checkUpstreamUrl('url', options.url)
  checkKey('accessKey', options.accessKey)
  checkKey('secretKey', options.secretKey)
  const { origin, host } = new URL(options.url)
  const project = toJson(options.project ?? 'default')
  const { clock = systemClock } = options

  return {
    secrets: [options.secretKey],
    accountIds: [options.accessKey],
    faceVerification: 'ark',
    hasQuota: true,
    async outgoing(operation: Operation): Promise<UpstreamRequest> {
      const { action, body } = actionBody(operation)
      const text = withoutProjectName(body).with('ProjectName', project).raw
      const query = { Action: action, Version: version }
      const headers = {
        'content-type': 'application/json',
        'x-content-sha256': await bodyHash(text),
        'x-date': arkDate(clock.now()),
      }
      const authorization = await arkAuthorization({ method: 'POST', host, query, headers, body: text }, options)
      return {
        method: 'POST',
        url: `${origin}/?${new URLSearchParams(query)}`,
        headers: { ...headers, authorization },
        body: text,
      }
    },
  }
}

const actionBody = (operation: Operation): { action: string; body: Json } => {
  const { action } = operation
  switch (action) {
    case 'CreateAssetGroup':
    case 'CreateAsset':
      return { action, body: operation.body.json }
    case 'ListAssetGroups':
    case 'ListAssets':
      return { action, body: toJson(listBody(operation.query)) }
    case 'FindAssetGroups':
      return { action: 'ListAssetGroups', body: toJson(searchOf(operation)) }
    case 'UpdateAssetGroup':
      return { action, body: withId(operation.body.json, operation.group.id) }
    case 'UpdateAsset':
      return { action, body: withId(operation.body.json, operation.asset.id) }
    case 'DeleteAssetGroup':
      return { action, body: toJson({ Id: operation.group.id }) }
    case 'GetAsset':
      return { action, body: toJson({ Id: operation.id }) }
    case 'DeleteAsset':
      return { action, body: toJson({ Id: operation.asset.id }) }
    case 'GetAssetQuota':
      return { action, body: toJson({}) }
    case 'CreateVisualValidateSession':
      return { action, body: withCallbackUrl(operation.body.json, operation.callbackUrl) }
    case 'GetVisualValidateResult':
      return { action, body: toJson({ BytedToken: operation.verification.id }) }
  }
}

/**
 * Puts the checked id into the body. Removes every id of the caller in any case, because the upstream might read that
 * one.
 */
const withId = (body: Json, id: string): Json =>
  body.without((key) => key.toLowerCase() === 'id').with('Id', toJson(id))

/**
 * Puts the gateway's callback URL into the body, and removes the caller's.
 *
 * The browser brings the result of the verification to this URL, so a caller must not choose it.
 */
const withCallbackUrl = (body: Json, url: string | undefined): Json => {
  const stripped = body.without((key) => /^callback_?url$/i.test(key))
  return url === undefined ? stripped : stripped.with('CallbackURL', toJson(url))
}

const listBody = (query: ListQuery) => ({
  Filter: {
    GroupIds: query.groups.map((group) => group.id),
    GroupType: query.groupType,
    Name: query.name,
    Statuses: query.statuses,
  },
  SortBy: query.sortBy,
  SortOrder: query.sortOrder,
  ...pagingOf(query.paging),
})
