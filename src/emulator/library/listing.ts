import { objectOf } from '../shared/members.ts'
import { field } from './items.ts'
import { type CursorPosition, type PageRequest, tokenOf } from './paging.ts'

const maxCachedLists = 8

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
