import { bindingOf, type Cursors, requireCaller, type SourceOffset } from './cursor.ts'
import { type Position, positionOf } from './order.ts'
import { cutPage, type Page } from './page.ts'
import type { ListRequest } from './parameters.ts'
import { ListChangedError, type Order, orderOf, type Source, type SourcePage, verifyTotal } from './source.ts'
import { type RowRange, type Start, startAt } from './walk/range.ts'
import { estimate, type Rank, rankOf, rankOfEnd } from './walk/rank-search.ts'
import { createRowReader, maxMargin } from './walk/row-reader.ts'
import { scanAll } from './walk/scan.ts'
import { addMark, type Bookmark, type WalkCache } from './walk/walk-cache.ts'

/** Options of `listPage`. */
export interface ListOptions<Row extends Position> {
  /**
   * The sources that together make up the list; no row is in two of them. Their number and order are the same for every
   * page.
   */
  readonly sources: readonly Source<Row>[]
  readonly request: ListRequest
  /** The user who sees the list. A token is valid only for this caller. */
  readonly caller: string
  readonly cursors: Cursors
  readonly walkCache: WalkCache
  /**
   * A filter that the upstream applies only loosely or not at all. Undefined: the sources filter exactly.
   *
   * With it, every page reads all rows, because the upstream knows neither the number nor the order of the matching
   * rows.
   */
  readonly matches?: (row: Row) => boolean
}

/** How often `listPage` starts again when the list changes during a read. After that it reads everything. */
const maxAttempts = 3

/**
 * Reads one page, exact in order and total, from upstream lists that have their own paging (`Source`).
 *
 * Upstream calls for a page, by token or by number, within the depth of page mode:
 * - One for each source. For a single source, two when the page is as large as the upstream's maximum or when the total
 *   must be verified.
 * - Where rows at the edge of a page of up to 20 rows have equal keys: two, if at most 40 rows have the same key. The
 *   first page of a list, and larger pages, may take a third.
 * - Where more rows have the same key: they are read once and cached for the next pages, each of which then takes one
 *   call more. A walk in pages of 10 takes fewer than two calls a page on average.
 *
 * Rejects with the error of a source, and with TypeError without a caller.
 */
export const listPage = async <Row extends Position>(options: ListOptions<Row>): Promise<Page<Row>> => {
  const { sources, request, caller, cursors, matches } = options
  requireCaller(caller)
  if (sources.length === 0) return { items: [], nextToken: '', totalCount: 0 }
  for (let attempt = 0; !matches && attempt < maxAttempts; attempt++) {
    try {
      return await readPage(options)
    } catch (error) {
      if (!(error instanceof ListChangedError)) throw error
    }
  }
  const order = orderOf(request.sortOrder)
  const all = await Promise.all(sources.map((source) => scanAll(source, order)))
  const rows = all.flat()
  return cutPage(matches ? rows.filter(matches) : rows, request, caller, cursors)
}

const readPage = <Row extends Position>(options: ListOptions<Row>): Promise<Page<Row>> => {
  const { sources, request, caller, cursors } = options
  const { pageSize, pageNumber } = request
  const reader = createPageReader(options, orderOf(request.sortOrder))
  const token = cursors.redeem(request, caller)
  if (token) {
    const starts = sources.map((_, index) => startAt(token.after, token.offsets[index]))
    return reader.pageAfter(starts)
  }
  const offset = (pageNumber - 1) * pageSize
  if (offset === 0) return reader.firstPage()
  return sources.length === 1 ? reader.pageOfOneSource(offset) : reader.pageOfSeveralSources(offset)
}

const createPageReader = <Row extends Position>(
  { sources, request, caller, cursors, walkCache }: ListOptions<Row>,
  order: Order,
) => {
  const { pageSize } = request
  const list = bindingOf(request, caller)
  const walk = walkCache.walkOf(list, sources)
  const read = createRowReader<Row>(order, list, walk, walkCache)

  const pageOf = async (
    ranges: readonly RowRange<Row>[],
    starts: readonly Start[],
    skip: number,
  ): Promise<Page<Row>> => {
    const rows = merge(ranges, order).slice(skip, skip + pageSize)
    const last = rows.at(-1)
    await Promise.all(sources.map((source, index) => proveTotal(source, ranges[index], !last)))
    const totalCount = rankOfEnd(ranges).rank
    const left = totalCount - rankOf(ranges).rank - skip
    const offsets = (row: Row) => ranges.map((range, index) => offsetIn(range, starts[index], row, order))
    return {
      items: rows,
      nextToken: last && left > pageSize ? cursors.issue(request, caller, last, offsets(last)) : '',
      totalCount,
    }
  }

  /** The page after the starts, one for each source. */
  const pageAfter = async (starts: readonly Start[], from = sources): Promise<Page<Row>> => {
    const ranges = await Promise.all(
      from.map((source, index) => read.after(source, starts[index] ?? startAt(undefined), pageSize, false)),
    )
    return pageOf(ranges, starts, 0)
  }

  return {
    pageAfter,

    /** The first page. Most lists are so short that one call of each source returns all rows. */
    async firstPage(): Promise<Page<Row>> {
      const starts = sources.map(() => startAt(undefined))
      // Where many rows have equal keys, a longer list is cached.
      if (walk.expectedTies >= maxMargin) return pageAfter(starts)
      const size = pageSize + walk.expectedTies
      const sizes = sources.map(({ maxPageSize, maxPageDepth }) => Math.min(size, maxPageSize, maxPageDepth))
      const pages = await Promise.all(sources.map((source, index) => source.page(1, sizes[index] ?? 1, false)))
      const rows = pages.flatMap((page) => page.rows).sort(order.rows)
      if (rows.length <= pageSize && pages.every((page) => page.rows.length === page.total)) {
        read.expectTiesOf(rows)
        return { items: rows, nextToken: '', totalCount: rows.length }
      }
      return pageAfter(
        starts,
        sources.map((source, index) => withFirstPage(source, sizes[index] ?? 1, pages[index])),
      )
    },

    /** The page at an offset of the only source. */
    async pageOfOneSource(offset: number): Promise<Page<Row>> {
      const [source] = sources
      if (!source) throw new ListChangedError('there is no source')
      return pageOf([await read.at(source, offset, pageSize)], [startAt(undefined)], 0)
    },

    /**
     * The page at an offset of several merged sources: reads forward from the nearest bookmark, whose rank is counted
     * again. Far from it, it estimates nearer ones.
     */
    async pageOfSeveralSources(offset: number): Promise<Page<Row>> {
      const beginning: Bookmark = { after: { key: '', id: '' }, rank: 0, starts: sources.map(() => startAt(undefined)) }
      const candidates = walk.bookmarks.filter((bookmark) => bookmark.rank <= offset)
      /** The nearest one before the page whose rank is counted, but for the first, which may have moved. */
      let below = candidates.reduce((best, other) => (other.rank > best.rank ? other : best), beginning)
      let bookmark = below
      /** The nearest place behind the beginning of the page. */
      let above: Rank | undefined
      for (let reads = 0; ; reads++) {
        const { starts } = bookmark
        const need = Math.max(pageSize, Math.min(maxStep, offset - bookmark.rank + pageSize))
        const ranges = await Promise.all(
          sources.map((source, index) => read.after(source, starts[index] ?? startAt(undefined), need, true)),
        )
        const counted = rankOf(ranges)
        const { rank } = counted
        if (rank > offset && bookmark === below) {
          // Rows were inserted before the bookmark since it was set.
          bookmark = below = beginning
          continue
        }
        if (rank > offset) above = counted
        else {
          const rows = merge(ranges, order)
          const isLast = ranges.every((range) => range.complete)
          if (isLast || rank + rows.length >= offset + pageSize) {
            const page = await pageOf(ranges, starts, offset - rank)
            const previous = rows[offset - rank - 1]
            if (previous) addBookmark(bookmarkAt(ranges, starts, previous, offset))
            return page
          }
          const step = Math.min(rows.length, offset - rank)
          const last = rows[step - 1]
          if (!last) throw new ListChangedError('the list has fewer rows than its total implies')
          below = bookmarkAt(ranges, starts, last, rank + step)
          addBookmark(below)
        }
        const behind = above ?? rankOfEnd(ranges)
        const estimated = reads < maxEstimates ? await estimateTowards(offset, below, behind, reads) : undefined
        bookmark = estimated ?? below
      }
    },
  }

  /**
   * A place nearer to an offset than the one below it. Undefined if that is near enough. Every second time it halves
   * the rows between both, as the share of the offset may say little.
   */
  async function estimateTowards(
    offset: number,
    below: Bookmark,
    above: Rank,
    nth: number,
  ): Promise<Bookmark | undefined> {
    const step = maxStep * sources.length
    const left = offset - below.rank
    if (left <= 2 * step) return undefined
    // Half a step before the offset, so that the place is seldom behind it.
    const share = nth % 2 === 0 ? Math.min(1, (left - step / 2) / (above.rank - below.rank)) : 1 / 2
    return estimate(sources, order, { below, above, share })
  }

  function addBookmark(bookmark: Bookmark): void {
    addMark(walk.bookmarks, bookmark, (other) => other.rank === bookmark.rank)
  }

  function bookmarkAt(ranges: readonly RowRange<Row>[], starts: readonly Start[], row: Row, rank: number): Bookmark {
    const after = positionOf(row)
    return {
      after,
      rank,
      starts: ranges.map((range, index) => startAt(after, offsetIn(range, starts[index], row, order))),
    }
  }
}

/**
 * Throws ListChangedError unless the total of a range counts only rows that the request asked for. The range proves it
 * if it has all rows.
 */
const proveTotal = async <Row extends Position>(
  source: Source<Row>,
  range: RowRange<Row> | undefined,
  isEmptyPage: boolean,
): Promise<void> => {
  const { rows = [], total = 0 } = range ?? {}
  if (rows.length >= total) return
  if (isEmptyPage) await verifyTotal(source, total)
  if (!isEmptyPage || total > source.maxPageSize) await source.checkTotal?.(total)
}

/**
 * Maximum number of rows read from each source in one step towards an offset: a page of 100, minus the rows that fix
 * the order at its ends.
 */
const maxStep = 97

/** Maximum number of estimates for one page. A list that is mixed evenly takes one or two. */
const maxEstimates = 24

/**
 * Merges the rows of all ranges in exact order, up to the first end of a range that is not complete: later rows of that
 * source may come before the rest.
 */
const merge = <Row extends Position>(ranges: readonly RowRange<Row>[], order: Order): readonly Row[] => {
  const [only, ...others] = ranges
  if (only && others.length === 0) return only.rows
  const ends = ranges.flatMap((range) => (range.complete ? [] : range.rows.slice(-1)))
  const [end] = ends.sort(order.rows)
  const rows = ranges.flatMap((range) => range.rows).sort(order.rows)
  return end ? rows.filter((row) => order.rows(row, end) <= 0) : rows
}

/** Where `row` is in the source of a range. */
const offsetIn = <Row extends Position>(
  range: RowRange<Row>,
  start: Start | undefined,
  row: Position,
  order: Order,
): SourceOffset => {
  const earlier = range.rows.filter((other) => order.keys(other.key, row.key) < 0).length
  const ties = range.rows.filter((other) => other.key === row.key && order.rows(other, row) <= 0).length
  const isSameKey = start?.after?.key === row.key
  return isSameKey ? [start.keyOffset, start.tieRank + ties] : [range.offset + earlier, ties]
}

/** The source, whose first page has just been read with this size. */
const withFirstPage = <Row extends Position>(
  source: Source<Row>,
  size: number,
  page: SourcePage<Row> | undefined,
): Source<Row> => {
  let unused = page
  return {
    ...{ id: source.id, maxPageSize: source.maxPageSize, maxPageDepth: source.maxPageDepth },
    page(number, wanted, backwards) {
      const known = number === 1 && wanted === size && !backwards ? unused : undefined
      unused = undefined
      return known ? Promise.resolve(known) : source.page(number, wanted, backwards)
    },
    walk: (cursor, wanted) => source.walk(cursor, wanted),
    fingerprint: () => source.fingerprint(),
    checkTotal: (total) => source.checkTotal?.(total),
  }
}
