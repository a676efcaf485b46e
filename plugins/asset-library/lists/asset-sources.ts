import type { ReadableGroup } from '../../ownership/index.ts'
import {
  instantKey,
  ListChangedError,
  type Listing,
  type Position,
  type Source,
} from '../../pagination-normalizer/index.ts'
import { readId } from '../../shared/id.ts'
import type { Json } from '../../shared/json/json.ts'
import type { Log } from '../../shared/problem.ts'
import {
  type Caller,
  type CursorMode,
  groupBatches,
  itemsOf,
  type ListQuery,
  type PageMode,
  type Upstream,
  UpstreamRejectedError,
  type UpstreamResponse,
} from '../../upstream-proxy/index.ts'
import type { FilterCheck } from './filter-check.ts'
import { memoize } from './memoize.ts'

/** A listed asset: the upstream's JSON and its sort position. */
export interface AssetRow extends Position {
  readonly item: Json
}

export interface AssetSources {
  readonly upstream: Upstream
  readonly filterCheck: FilterCheck
  readonly log: Log
  /** The groups to list, which the caller may see. */
  readonly groups: readonly ReadableGroup[]
  readonly listing: Listing
  readonly caller: Caller
  /** Called for every asset that the upstream lists, with its group. */
  readonly onAsset: (id: string, group: ReadableGroup) => void
  /** Called for every response of the upstream. */
  readonly onResponse: (response: UpstreamResponse) => void
}

/**
 * The upstream lists that together contain the assets of some groups. The upstream accepts at most a hundred group ids
 * in one call.
 */
export const assetSources = (options: AssetSources): readonly Source<AssetRow>[] =>
  batchesOf(options.groups).map((batch) => assetSource(options, batch))

/** The groups of one upstream call. */
interface GroupBatch {
  readonly id: string
  readonly groups: ListQuery['groups']
  readonly byId: ReadonlyMap<string, ReadableGroup>
}

/** Computed once for each array of groups. */
const batchesOf = memoize((all: readonly ReadableGroup[]): readonly GroupBatch[] =>
  groupBatches(all).map((groups) => ({
    id: groups.map((group) => group.id).join(),
    groups,
    byId: new Map(groups.map((group) => [group.id, group])),
  })),
)

const assetSource = (options: AssetSources, { id, groups, byId }: GroupBatch): Source<AssetRow> => {
  const { upstream, listing, caller, onResponse } = options
  const { filter, sortBy, sortOrder } = listing
  const asked = {
    groupType: String(filter.GroupType),
    groups,
    statuses: filter.Statuses as readonly string[] | undefined,
  }

  const list = (paging: PageMode | CursorMode, order = sortOrder, by = sortBy): Promise<UpstreamResponse> =>
    upstream.send(
      {
        action: 'ListAssets',
        query: { ...asked, name: filter.Name as string | undefined, sortBy: by, sortOrder: order, paging },
      },
      caller,
    )

  const rowsOf = (response: UpstreamResponse) => {
    onResponse(response)
    const items = itemsOf(response)
    const rows: AssetRow[] = []
    for (const item of items) {
      const row = rowOf(item, byId, options)
      if (row) rows.push(row)
    }
    const dropped = items.length - rows.length
    if (dropped > 0) {
      options.filterCheck.distrust()
      options.log.error(
        { action: 'ListAssets', dropped },
        'the upstream listed assets that the request did not ask for',
      )
    }
    return { rows, foreign: dropped }
  }

  return {
    id,
    maxPageSize: 100,
    maxPageDepth: 10_000,

    checkTotal: (total) => options.filterCheck.check(asked, total, caller),

    async page(number, size, backwards) {
      const paging = { pageNumber: number, pageSize: size }
      const response = await list(paging, backwards === (sortOrder === 'Asc') ? 'Desc' : 'Asc')
      const { rows, foreign } = rowsOf(response)
      // Page numbers and totals that count foreign assets are useless.
      if (foreign > 0) throw new ListChangedError('a page contains assets that the request did not ask for')
      return { rows, total: totalOf(response) }
    },

    async walk(cursor, size) {
      const response = await list({ maxResults: size, nextToken: cursor }).catch((error: unknown) => {
        if (cursor !== undefined && error instanceof UpstreamRejectedError && error.status === 400)
          throw new ListChangedError('the upstream rejected a cursor')
        throw error
      })
      // At the end the token is absent, or empty if the upstream is itself such a gateway.
      const next = response.json?.get('Result')?.get('NextToken')?.string() || undefined
      const { rows, foreign } = rowsOf(response)
      return { rows, cursor: next, foreign: foreign > 0 }
    },

    async fingerprint() {
      const response = await list({ pageNumber: 1, pageSize: fingerprintSize }, 'Desc', 'UpdateTime')
      const newest = itemsOf(response).map((item) => fingerprintFields.map((field) => item.get(field)?.raw))
      if (rowsOf(response).foreign > 0)
        throw new ListChangedError('the total counts assets that the request did not ask for')
      const total = totalOf(response)
      return { total, text: `${total} ${newest}` }
    },
  }
}

/**
 * Number of most recently updated assets in a fingerprint. The upstream's times have a resolution of one second, so
 * more than 20 changes in one second can go unnoticed.
 */
const fingerprintSize = 20
const fingerprintFields = ['Id', 'UpdateTime', 'Name', 'Status']

/** Undefined for an asset that the upstream should not have listed. */
const rowOf = (
  item: Json,
  groupsById: ReadonlyMap<string, ReadableGroup>,
  options: AssetSources,
): AssetRow | undefined => {
  const { listing, onAsset } = options
  const id = readId(item.get('Id')?.string())
  const group = groupsById.get(item.get('GroupId')?.string() ?? '')
  if (id === undefined || !group) return undefined
  onAsset(id, group)
  const statuses = listing.filter.Statuses as readonly string[] | undefined
  if (statuses && !statuses.includes(item.get('Status')?.string() ?? '')) return undefined
  const text = item.get(listing.sortBy)?.string()
  return { id, key: listing.sortBy === 'GroupId' ? (text ?? '') : instantKey(text), item }
}

const totalOf = (response: UpstreamResponse): number => {
  const total = response.json?.get('Result')?.get('TotalCount')?.value()
  if (typeof total === 'number') return total
  throw new ListChangedError('the upstream sent a page without TotalCount')
}
