import { field } from './items.ts'
import { objectOf } from './members.ts'
import { type Place, tokenOf, type Window } from './paging.ts'

const KEPT_MOST = 8

/** What makes items sortable. */
export interface Sortable {
  readonly tie: number
}

/** A cut of a list, not yet text, so that faults can still spoil it. */
export interface List {
  readonly items: readonly string[]
  readonly mode: 'page' | 'cursor'
  /** the paging fields of the page mode */
  readonly counts: readonly { readonly raw: string }[]
  /** cursor mode: the token of the next page; absent at the end */
  readonly next?: string
  /** cursor mode: a valid token even at the end */
  readonly token?: string
  /** an item that the filter did not ask for, as a leaking upstream would show it */
  stranger(): string
}

/** Sorts by a key in one direction; equal keys stand by tie, whatever the direction. */
export function sorted<Item extends Sortable>(items: Item[], keyOf: (item: Item) => number | string, down: boolean) {
  return items.sort((a, b) => comparePlaces({ key: keyOf(a), tie: a.tie }, { key: keyOf(b), tie: b.tie }, down))
}

/** Keeps what was sorted last, as long as the library stays as it was. */
export type Sorted<Item> = (print: string, revision: number, make: () => Item[]) => readonly Item[]

/** Remembers a few sorted lists; walking 50,000 items page by page would otherwise sort them at every page. */
export function createSorted<Item>(): Sorted<Item> {
  const kept = new Map<string, { readonly revision: number; readonly items: readonly Item[] }>()
  return (print, revision, make) => {
    const found = kept.get(print)
    if (found?.revision === revision) return found.items
    const items = make()
    kept.delete(print)
    kept.set(print, { revision, items })
    for (const oldest of kept.keys()) if (kept.size > KEPT_MOST) kept.delete(oldest)
    return items
  }
}

/** Cuts a window out of a sorted list. A cursor is a place, not a count, so additions and removals do not shift it. */
export function cut<Item extends Sortable>(
  items: readonly Item[],
  window: Window,
  sort: { readonly print: string; readonly down: boolean; keyOf(item: Item): number | string },
) {
  const from = window.mode === 'page' ? (window.number - 1) * window.size : firstBehind(items, window.after, sort)
  const shown = items.slice(from, from + window.size)
  if (window.mode === 'page') {
    const counts = { TotalCount: items.length, PageNumber: window.number, PageSize: window.size }
    return { shown, mode: window.mode, counts: Object.entries(counts).map(([name, value]) => field(name, value)) }
  }
  const last = shown.at(-1)
  const end = last ? { key: sort.keyOf(last), tie: last.tie } : (window.after ?? { key: 0, tie: 0 })
  const token = tokenOf(end, sort.print)
  const more = from + window.size < items.length
  return { shown, mode: window.mode, counts: [], token, ...(more ? { next: token } : {}) }
}

/** A list as the text of `Result`. */
export function listText({ items, counts, next }: List): string {
  return objectOf([
    { raw: `"Items":[${items.join(',')}]` },
    ...(next === undefined ? [] : [field('NextToken', next)]),
    ...counts,
  ])
}

function firstBehind<Item extends Sortable>(
  items: readonly Item[],
  place: Place | undefined,
  { keyOf, down }: { readonly down: boolean; keyOf(item: Item): number | string },
): number {
  if (place === undefined) return 0
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    const item = items[middle]
    if (item && comparePlaces({ key: keyOf(item), tie: item.tie }, place, down) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

function comparePlaces(a: Place, b: Place, down: boolean): number {
  if (a.key === b.key) return a.tie - b.tie
  return a.key < b.key === down ? 1 : -1
}
