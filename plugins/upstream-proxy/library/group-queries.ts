import type { Json } from '../../shared/json/json.ts'
import type { ReadableId } from '../../shared/owned-id.ts'
import { UpstreamInvalidError } from '../../shared/upstream/upstream-error.ts'
import type { UpstreamResponse } from '../response.ts'
import type { Caller, Upstream } from '../upstream.ts'
import { maxGroupsPerCall } from './operation.ts'

/** Splits groups into batches of 1 to 100 groups of one account, one for each call. */
export const groupBatches = <Group extends ReadableId<'group'>>(
  groups: readonly Group[],
): readonly (readonly [Group, ...Group[]])[] => {
  if (!isNonEmpty(groups)) return []
  const [{ account }] = groups
  if (groups.some((group) => group.account !== account))
    return [...Map.groupBy(groups, (group) => group.account).values()].flatMap(groupBatches<Group>)
  if (groups.length <= maxGroupsPerCall) return [groups]
  const batches: (readonly [Group, ...Group[]])[] = []
  for (let at = 0; at < groups.length; at += maxGroupsPerCall) {
    const batch = groups.slice(at, at + maxGroupsPerCall)
    if (isNonEmpty(batch)) batches.push(batch)
  }
  return batches
}

const isNonEmpty = <Item>(items: readonly Item[]): items is readonly [Item, ...Item[]] => items.length > 0

/** Groups as the upstream lists them. */
export interface ListedGroups {
  readonly items: readonly Json[]
  /** The responses of all calls, in order. */
  readonly responses: readonly UpstreamResponse[]
}

/**
 * Reads groups from the upstream, with one call per 100 groups. Groups that the upstream does not know are missing in
 * the result.
 *
 * Without groups it makes no call: the upstream would list all groups of the account.
 */
export const describeGroups = async (
  upstream: Upstream,
  groupType: string,
  groups: readonly ReadableId<'group'>[],
  caller?: Caller,
): Promise<ListedGroups> => {
  const items: Json[] = []
  const responses: UpstreamResponse[] = []
  for (const batch of groupBatches(groups)) {
    const query = { groupType, groups: batch, sortBy: 'CreateTime', sortOrder: 'Desc', paging: maxPaging } as const
    const response = await upstream.send({ action: 'ListAssetGroups', query }, caller)
    items.push(...itemsOf(response))
    responses.push(response)
  }
  return { items, responses }
}

const maxPaging = { maxResults: maxGroupsPerCall } as const

/** Which groups a search needs: those that were created, or last updated, at `time` or later. */
export interface SearchFrom {
  readonly by: 'CreateTime' | 'UpdateTime'
  /** Milliseconds since 1970. */
  readonly time: number
  /** Parses the times of the upstream. */
  readonly instantOf: (time: string | undefined) => number | undefined
}

/**
 * Finds the groups of a whole account with exactly this name and type, for reconciliation and `admin group pending`.
 *
 * The upstream lists the latest first. With `from`, the search ends at the first page with an earlier group, so that it
 * need not read the whole account. It reads on if the upstream does not sort.
 */
export const findGroups = async (
  upstream: Upstream,
  groupType: string,
  name: string,
  from?: SearchFrom,
  account?: string,
): Promise<readonly Json[]> => {
  const found: Json[] = []
  const readPage = (nextToken?: string) =>
    upstream.send({ action: 'FindAssetGroups', groupType, name, sortBy: from?.by, nextToken, account })
  let earliest = Number.POSITIVE_INFINITY
  let sorted = true
  for await (const response of pages(readPage)) {
    for (const item of itemsOf(response)) {
      if (item.get('Name')?.string() === name) found.push(item)
      const time = from?.instantOf(item.get(from.by)?.string())
      if (time === undefined || time > earliest) sorted = false
      else earliest = time
    }
    if (from && sorted && earliest < from.time) break
  }
  return found
}

/** Maximum number of consecutive pages without a new item. An upstream that filters after paging returns such pages. */
const maxEmptyPages = 100

async function* pages(readPage: (nextToken?: string) => Promise<UpstreamResponse>): AsyncGenerator<UpstreamResponse> {
  const tokens = new Set<string>()
  const ids = new Set<string>()
  let emptyPages = 0
  let token: string | undefined
  do {
    const response = await readPage(token)
    yield response
    const countBefore = ids.size
    for (const item of itemsOf(response)) ids.add(item.get('Id')?.raw ?? '')
    emptyPages = ids.size > countBefore ? 0 : emptyPages + 1
    if (emptyPages > maxEmptyPages) throw new UpstreamInvalidError('the list has too many pages without a new item')
    // On the last page the token is absent, or empty if the upstream is another gateway of this kind.
    token = response.json?.get('Result')?.get('NextToken')?.string() || undefined
    if (token !== undefined && tokens.has(token))
      throw new UpstreamInvalidError('the list returned the same NextToken twice')
    if (token !== undefined) tokens.add(token)
  } while (token !== undefined)
}

/** `Result.Items` of a list response. Throws UpstreamInvalidError if the response is not a list. */
export const itemsOf = (response: UpstreamResponse): readonly Json[] => {
  const items = response.json?.get('Result')?.get('Items')
  if (items?.isArray) return items.elements()
  // For an empty list, `Items` may be null or absent.
  if (items === undefined || items.is('null')) {
    if (response.json?.get('Result')?.isObject) return []
  }
  throw new UpstreamInvalidError('the response is not a list')
}
