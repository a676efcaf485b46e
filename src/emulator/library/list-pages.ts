import { ArkError, invalid, missing } from '../api/ark-error.ts'
import type { Fields } from '../api/fields.ts'
import { sha256 } from '../shared/hash.ts'
import { field, objectOf } from '../shared/members.ts'

/** Those of a user with a thousand groups, who asks for a hundred at once, in two orders. */
const maxCachedLists = 20

/** An item that can be sorted. */
export interface Sortable {
  readonly tieBreaker: number
}

/** One page of a list before serialization, so that faults can still change it. */
export interface List {
  readonly items: readonly string[]
  readonly mode: 'page' | 'cursor'
  /** page mode: the paging fields of the result */
  readonly counts: readonly { readonly raw: string }[]
  /** cursor mode: the token of the next page; absent on the last page */
  readonly next?: string
  /** cursor mode: a valid token, also on the last page */
  readonly token?: string
  /** an item that does not match the filter, for the `foreign` fault */
  foreignItem(): string
}

/** Sorts items by a key. Equal keys are ordered by `tieBreaker`, in both directions. */
export const sorted = <Item extends Sortable>(items: Item[], keyOf: (item: Item) => number | string, down: boolean) =>
  items.sort((a, b) =>
    comparePositions({ key: keyOf(a), tieBreaker: a.tieBreaker }, { key: keyOf(b), tieBreaker: b.tieBreaker }, down),
  )

/** Returns the sorted list of a query. The cached list is valid for one revision of the library. */
export type SortCache<Item> = (queryHash: string, revision: number, sort: () => Item[]) => readonly Item[]

/** Caches the last few sorted lists. Without it, paging through 50,000 items would sort them again for every page. */
export const createSortCache = <Item>(): SortCache<Item> => {
  const cached = new Map<string, { readonly revision: number; readonly items: readonly Item[] }>()
  return (queryHash, revision, sort) => {
    const found = cached.get(queryHash)
    if (found?.revision === revision) return found.items
    const items = sort()
    cached.delete(queryHash)
    cached.set(queryHash, { revision, items })
    for (const oldest of cached.keys()) if (cached.size > maxCachedLists) cached.delete(oldest)
    return items
  }
}

/**
 * Cuts one page out of a sorted list. A cursor is a sort position, not an offset, so new and deleted items do not shift
 * it.
 */
export const pageOf = <Item extends Sortable>(
  items: readonly Item[],
  window: PageRequest,
  sort: { readonly queryHash: string; readonly down: boolean; keyOf(item: Item): number | string },
) => {
  const from = window.mode === 'page' ? (window.number - 1) * window.size : indexAfter(items, window.after, sort)
  const page = items.slice(from, from + window.size)
  if (window.mode === 'page') {
    const counts = { TotalCount: items.length, PageNumber: window.number, PageSize: window.size }
    return { page, mode: window.mode, counts: Object.entries(counts).map(([name, value]) => field(name, value)) }
  }
  const last = page.at(-1)
  const end = last
    ? { key: sort.keyOf(last), tieBreaker: last.tieBreaker }
    : (window.after ?? { key: 0, tieBreaker: 0 })
  const token = tokenOf(end, sort.queryHash)
  const more = from + window.size < items.length
  return { page, mode: window.mode, counts: [], token, ...(more ? { next: token } : {}) }
}

/** Serializes a list as the JSON text of `Result`. */
export const listText = ({ items, counts, next }: List): string =>
  objectOf([
    { raw: `"Items":[${items.join(',')}]` },
    ...(next === undefined ? [] : [field('NextToken', next)]),
    ...counts,
  ])

const indexAfter = <Item extends Sortable>(
  items: readonly Item[],
  position: CursorPosition | undefined,
  { keyOf, down }: { readonly down: boolean; keyOf(item: Item): number | string },
): number => {
  if (position === undefined) return 0
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    const item = items[middle]
    if (item && comparePositions({ key: keyOf(item), tieBreaker: item.tieBreaker }, position, down) <= 0)
      low = middle + 1
    else high = middle
  }
  return low
}

const comparePositions = (a: CursorPosition, b: CursorPosition, down: boolean): number => {
  if (a.key === b.key) return a.tieBreaker - b.tieBreaker
  return a.key < b.key === down ? 1 : -1
}

/** The position of a cursor: after the item with this sort key and tieBreaker. */
interface CursorPosition {
  readonly key: number | string
  readonly tieBreaker: number
}

/** The requested page of a sorted list, in one of two exclusive modes (vendor pages 2318272, 2318273). */
type PageRequest =
  | { readonly mode: 'page'; readonly number: number; readonly size: number }
  | { readonly mode: 'cursor'; readonly size: number; readonly after?: CursorPosition }

/**
 * Reads PageNumber and PageSize, or MaxResults and NextToken; default: cursor mode, 10 items. An empty NextToken counts
 * as absent. `queryHash` is the hash of filter and sort: a token that was issued for another one is rejected.
 */
export const readPageRequest = (fields: Fields, queryHash: string, maxDepth: number): PageRequest => {
  const number = fields.integer('PageNumber', 1, Number.MAX_SAFE_INTEGER)
  const size = fields.integer('PageSize', 1, 100)
  const maxResults = fields.integer('MaxResults', 1, 100)
  const token = fields.text('NextToken', Number.POSITIVE_INFINITY) || undefined
  if (number === undefined && size === undefined) {
    return {
      mode: 'cursor',
      size: maxResults ?? 10,
      ...(token === undefined ? {} : { after: positionOf(token, queryHash) }),
    }
  }
  if (maxResults !== undefined || token !== undefined) {
    throw new ArkError(
      400,
      'InvalidParameter',
      'PageNumber and PageSize cannot be combined with MaxResults and NextToken.',
    )
  }
  if (number === undefined) throw missing('PageNumber')
  if (size === undefined) throw missing('PageSize')
  if (number * size > maxDepth) throw invalid('PageNumber', `PageNumber times PageSize must be at most ${maxDepth}.`)
  return { mode: 'page', number, size }
}

/** A short hash of a filter and a sort. */
export const queryHashOf = (...parts: readonly unknown[]): string => sha256(JSON.stringify(parts)).slice(0, 16)

/** The opaque token of a cursor position. */
const tokenOf = ({ key, tieBreaker }: CursorPosition, queryHash: string): string => {
  const payload = JSON.stringify([queryHash, key, tieBreaker])
  return Buffer.from(checksum(payload) + payload).toString('base64url')
}

const positionOf = (token: string, queryHash: string): CursorPosition => {
  const text = Buffer.from(token, 'base64url').toString()
  const payload = text.slice(16)
  if (text.slice(0, 16) !== checksum(payload)) throw invalid('NextToken', 'NextToken is invalid.')
  const [given, key, tieBreaker] = JSON.parse(payload) as [string, number | string, number]
  if (given !== queryHash) throw invalid('NextToken', 'NextToken belongs to another filter or sort.')
  return { key, tieBreaker }
}

const checksum = (payload: string): string => sha256(`cursor ${payload}`).slice(0, 16)
