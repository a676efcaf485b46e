import type { Cursors } from './cursor.ts'
import { comparePositions, type Position } from './order.ts'
import type { ListRequest } from './parameters.ts'

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** Empty on the last page. */
  readonly nextToken: string
  /** How many items match in all. */
  readonly totalCount: number
}

/**
 * The page that a request asks for, out of everything that matches. A valid token goes before the page number.
 *
 * @param items in any order, each once
 */
export const cutPage = <Item extends Position>(
  items: readonly Item[],
  request: ListRequest,
  caller: string,
  cursors: Cursors,
): Page<Item> => {
  const direction = request.sortOrder === 'Asc' ? 1 : -1
  const compare = (a: Position, b: Position) => direction * comparePositions(a, b)
  const ordered = items.toSorted(compare)
  const after = cursors.redeem(request, caller)?.after
  const start = after ? countUpTo(ordered, after, compare) : (request.pageNumber - 1) * request.pageSize
  const page = ordered.slice(start, start + request.pageSize)
  const last = page.at(-1)
  return {
    items: page,
    nextToken: last && start + page.length < ordered.length ? cursors.issue(request, caller, last) : '',
    totalCount: ordered.length,
  }
}

/** How many items come before a position or stand on it. */
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
