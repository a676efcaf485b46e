import type { OwnedGroup } from '../../plugins/ownership/index.ts'
import {
  instantKey,
  ListChangedError,
  type Listing,
  type Position,
  type Source,
} from '../../plugins/pagination-normalizer/index.ts'
import { readId } from '../../plugins/shared/id.ts'
import type { Json } from '../../plugins/shared/json.ts'
import type { Log } from '../../plugins/shared/problem.ts'
import {
  type Caller,
  type CursorMode,
  groupsByCall,
  itemsOf,
  type ListQuery,
  type PageMode,
  type Upstream,
  UpstreamRefusedError,
  type UpstreamResponse,
} from '../../plugins/upstream-proxy/index.ts'
import { oncePer } from './once-per.ts'

/** An asset of a list: as the upstream wrote it, and what it is sorted by. */
export interface AssetRow extends Position {
  readonly item: Json
}

export interface AssetSources {
  readonly upstream: Upstream
  readonly log: Log
  /** The caller's groups that are asked for. */
  readonly groups: readonly OwnedGroup[]
  readonly listing: Listing
  readonly caller: Caller
  /** Told of every asset that is seen, and the group it lies in. */
  readonly onAsset: (id: string, group: OwnedGroup) => void
  /** Told of every answer. */
  readonly onAnswer: (answer: UpstreamResponse) => void
}

/** The upstream's lists that together hold the assets of some groups: one for a hundred groups, which is as many as it takes. */
export const assetSources = (options: AssetSources): readonly Source<AssetRow>[] =>
  partsOf(options.groups).map((part) => assetSource(options, part))

/** Groups that are asked for in one call. */
interface Part {
  readonly id: string
  readonly groups: ListQuery['groups']
  readonly byId: ReadonlyMap<string, OwnedGroup>
}

/** Kept as long as the list of groups. */
const partsOf = oncePer((all: readonly OwnedGroup[]): readonly Part[] =>
  groupsByCall(all).map((groups) => ({
    id: groups.map((group) => group.id).join(),
    groups,
    byId: new Map(groups.map((group) => [group.id, group])),
  })),
)

const assetSource = (options: AssetSources, { id, groups, byId }: Part): Source<AssetRow> => {
  const { upstream, listing, caller, onAnswer } = options
  const { filter, sortBy, sortOrder } = listing

  const ask = async (paging: PageMode | CursorMode, order = sortOrder, by = sortBy): Promise<UpstreamResponse> => {
    const answer = await upstream.send(
      {
        action: 'ListAssets',
        query: {
          groupType: String(filter.GroupType),
          groups,
          name: filter.Name as string | undefined,
          statuses: filter.Statuses as readonly string[] | undefined,
          sortBy: by,
          sortOrder: order,
          paging,
        },
      },
      caller,
    )
    onAnswer(answer)
    return answer
  }

  const rowsOf = (answer: UpstreamResponse) => {
    const items = itemsOf(answer)
    const rows: AssetRow[] = []
    for (const item of items) {
      const row = rowOf(item, byId, options)
      if (row) rows.push(row)
    }
    const dropped = items.length - rows.length
    if (dropped > 0)
      options.log.error({ action: 'ListAssets', dropped }, 'upstream listed assets that were not asked for')
    return { rows, foreign: dropped }
  }

  return {
    id,
    maxPageSize: 100,
    maxPageDepth: 10_000,

    async page(number, size, backwards) {
      const paging = { pageNumber: number, pageSize: size }
      const answer = await ask(paging, backwards === (sortOrder === 'Asc') ? 'Desc' : 'Asc')
      const { rows, foreign } = rowsOf(answer)
      // Numbers and totals that count what is not the caller's are of no use.
      if (foreign > 0) throw new ListChangedError('a page that holds what was not asked for')
      return { rows, total: totalOf(answer) }
    },

    async walk(cursor, size) {
      const answer = await ask({ maxResults: size, nextToken: cursor }).catch((error: unknown) => {
        if (cursor !== undefined && error instanceof UpstreamRefusedError && error.status === 400)
          throw new ListChangedError('a stale cursor')
        throw error
      })
      // At the end the token is absent, or empty where the upstream is a gateway like this one.
      const next = answer.json?.get('Result')?.get('NextToken')?.string() || undefined
      const { rows, foreign } = rowsOf(answer)
      return { rows, cursor: next, foreign: foreign > 0 }
    },

    async fingerprint() {
      const answer = await ask({ pageNumber: 1, pageSize: newestLooked }, 'Desc', 'UpdateTime')
      const newest = itemsOf(answer).map((item) => told.map((field) => item.get(field)?.raw))
      if (rowsOf(answer).foreign > 0) throw new ListChangedError('a total that counts what was not asked for')
      const total = totalOf(answer)
      return { total, text: `${total} ${newest}` }
    },
  }
}

/** As many as may change within a second, in which an upstream's times do not tell one change from the next. */
const newestLooked = 20
/** What a change shows in. */
const told = ['Id', 'UpdateTime', 'Name', 'Status']

/** Undefined for what the upstream should not have listed, whatever it says. */
const rowOf = (item: Json, asked: ReadonlyMap<string, OwnedGroup>, options: AssetSources): AssetRow | undefined => {
  const { listing, onAsset } = options
  const id = readId(item.get('Id')?.string())
  const group = asked.get(item.get('GroupId')?.string() ?? '')
  if (id === undefined || !group) return undefined
  onAsset(id, group)
  const statuses = listing.filter.Statuses as readonly string[] | undefined
  if (statuses && !statuses.includes(item.get('Status')?.string() ?? '')) return undefined
  const text = item.get(listing.sortBy)?.string()
  return { id, key: listing.sortBy === 'GroupId' ? (text ?? '') : instantKey(text), item }
}

const totalOf = (answer: UpstreamResponse): number => {
  const total = answer.json?.get('Result')?.get('TotalCount')?.value()
  if (typeof total === 'number') return total
  throw new ListChangedError('a page without TotalCount')
}
