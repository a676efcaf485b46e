import { type Cursors, requireCaller } from './cursor.ts'
import { comparePositions, type Position } from './order.ts'
import type { ListRequest } from './parameters.ts'
import { orderOf } from './source.ts'

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** Empty on the last page. */
  readonly nextToken: string
  /** Number of matching items on all pages. */
  readonly totalCount: number
}

/** Items that are sorted once and then paged by many requests. The items must not change. */
export class Ordered<Item extends Position> {
  readonly #ascending: readonly Item[]
  #descending: readonly Item[] | undefined

  /** @param items in any order, without duplicates */
  constructor(items: readonly Item[]) {
    this.#ascending = items.toSorted(comparePositions)
  }

  in(sortOrder: 'Asc' | 'Desc'): readonly Item[] {
    if (sortOrder === 'Asc') return this.#ascending
    this.#descending ??= this.#ascending.toReversed()
    return this.#descending
  }
}

/**
 * Cuts the requested page out of all matching items. A valid token has priority over the page number.
 *
 * Throws TypeError without a caller.
 *
 * @param items in any order, without duplicates; or sorted already
 */
export const cutPage = <Item extends Position>(
  items: readonly Item[] | Ordered<Item>,
  request: ListRequest,
  caller: string,
  cursors: Cursors,
): Page<Item> => {
  requireCaller(caller)
  const { sortOrder, pageSize, pageNumber } = request
  const ordered = (items instanceof Ordered ? items : new Ordered(items)).in(sortOrder)
  const after = cursors.redeem(request, caller)?.after
  const start = after ? countUpTo(ordered, after, orderOf(sortOrder).rows) : (pageNumber - 1) * pageSize
  const page = ordered.slice(start, start + pageSize)
  const last = page.at(-1)
  return {
    items: page,
    nextToken: last && start + page.length < ordered.length ? cursors.issue(request, caller, last) : '',
    totalCount: ordered.length,
  }
}

/** Number of items up to and including a position. */
const countUpTo = (
  ordered: readonly Position[],
  position: Position,
  compare: (a: Position, b: Position) => number,
): number => {
  let low = 0
  let high = ordered.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const item = ordered[middle]
    if (item && compare(item, position) <= 0) low = middle + 1
    else high = middle
  }
  return low
}
