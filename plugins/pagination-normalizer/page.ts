import { type Cursors, requireCaller } from './cursor.ts'
import { comparePositions, type Position } from './order.ts'
import type { ListRequest } from './parameters.ts'
import { type Order, orderOf, type ReadDirection, type Source } from './source.ts'
import { maxTies, type RangeTarget, type ReadOptions, type RowRange, TooManyTiesError } from './walk/range.ts'
import type { Walk, WalkCache } from './walk/walk-cache.ts'

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

/** Up to this size, a page that is not the first of its walk gets at most two calls; other pages get three. */
const smallPage = 30

/**
 * Maximum margin on each side of the wanted rows: less than half of a page of 100, so that one call can always return
 * it.
 */
const maxMargin = 40

const forwards = { backwards: false } as const

/** Creates functions that read ranges of one list's sources in page mode. @param walk of that list */
export const createPageReader = <Row extends Position>(
  order: Order,
  list: string,
  walk: Walk,
  walkCache: WalkCache,
) => {
  const readOptions = (
    source: Source<Row>,
    direction: ReadDirection = forwards,
    maxExtensions = Number.POSITIVE_INFINITY,
  ): ReadOptions<Row> => ({
    ...{ source, order, direction, maxExtensions, margin: Math.min(maxMargin, walk.expectedTies - 1) },
  })

  /**
   * Reads a range in page mode. If too many rows have equal keys, it reads a larger range once and caches it for the
   * next pages: as long as the list does not change, each of them then costs one call, for the fingerprint.
   */
  const readByPage = async (
    source: Source<Row>,
    target: RangeTarget,
    need: number,
    readFor: (options: ReadOptions<Row>, need: number) => Promise<RowRange<Row> | undefined>,
  ): Promise<RowRange<Row> | undefined> => {
    const key = `${list}\n${source.id}`
    const cached = walkCache.cachedRange<Row>(key)
    const hit = cached && target.startsIn(cached.range) ? target.trim(cached.range) : undefined
    if (cached && hit && (hit.complete || hit.rows.length >= need)) {
      if ((await source.fingerprint()).text === cached.fingerprint) return hit
      walkCache.deleteRange(key)
    }
    try {
      const maxExtensions = need <= smallPage && walk.expectedTies > 1 ? 1 : 2
      const range = await readFor(readOptions(source, forwards, maxExtensions), need)
      if (range) walk.expectedTies = Math.max(maxTies(range), walk.expectedTies - 1, 1)
      return range && target.trim(range)
    } catch (error) {
      if (!(error instanceof TooManyTiesError)) throw error
    }
    const readAt = performance.now()
    const { text: fingerprint, total } = await source.fingerprint()
    const range = await readFor(readOptions(source), need + Math.max(source.maxPageSize, 4 * need))
    walk.expectedTies = maxMargin
    if (range?.total === total) walkCache.cacheRange(key, { range, fingerprint, readAt })
    return range && target.trim(range)
  }

  return { readOptions, readByPage }
}
