import { bindingOf, type Cursors } from './cursor.ts'
import { type Position, positionOf } from './order.ts'
import { cutPage, type Page } from './page.ts'
import { createPageReader } from './page-reader.ts'
import type { ListRequest } from './parameters.ts'
import { behind, from, type RowRange, readRange, readRangeAt, type Start } from './range.ts'
import { scanAll, scanRange } from './scan.ts'
import { ListChangedError, type Order, orderOf, type Source, verifyTotal } from './source.ts'
import { type Bookmark, remember, type WalkCache } from './walk-cache.ts'

export interface ListOptions<Row extends Position> {
  /** What the list is made of, each row in one of them. Their number and order is the same for every page. */
  readonly sources: readonly Source<Row>[]
  readonly request: ListRequest
  /** Whose list it is: a token works for nobody else. */
  readonly caller: string
  readonly cursors: Cursors
  readonly trails: WalkCache
  /**
   * What the sources' own filters let through too much; undefined when they are exact. With it everything has to be read for every page: how many rows
   * match, and which comes first, nobody else knows.
   */
  readonly matches?: (row: Row) => boolean
}

/** How often a page is begun anew when the list changes under it, before everything is read. */
const attempts = 3

/**
 * The page that a request asks for, exact in order and total, out of sources that can only page in an order of their own and not very deep.
 *
 * One call for a page by token or by number out of one source that page mode reaches, two where a page is as large as the source's or the total has
 * to be asked for; one a source where there are several. Where keys are equal at its edge, a page of up to 20 takes two calls, as long as no more than 40 rows
 * are equal (the first page of a list, and larger pages, may take a third). Where more are, they are read once for several pages, each of which takes one call
 * more: a walk by 10 then takes less than two calls a page.
 *
 * Rejects with whatever a source rejects with.
 */
export const listPage = async <Row extends Position>(options: ListOptions<Row>): Promise<Page<Row>> => {
  const { sources, request, caller, cursors, matches } = options
  if (sources.length === 0) return { items: [], nextToken: '', totalCount: 0 }
  for (let attempt = 0; !matches && attempt < attempts; attempt++) {
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

const readPage = async <Row extends Position>(options: ListOptions<Row>): Promise<Page<Row>> => {
  const { sources, request, caller, cursors } = options
  const { pageSize, pageNumber } = request
  const reader = createReader(options, orderOf(request.sortOrder))
  const token = cursors.redeem(request, caller)
  if (token) {
    const starts = sources.map((_, nth) => startAt(token.after, token.places[nth]))
    return reader.pageBehind(starts)
  }
  const place = (pageNumber - 1) * pageSize
  if (place === 0) return reader.pageBehind(sources.map(() => startAt(undefined)))
  return sources.length === 1 ? reader.pageAt(place) : reader.pageAround(place)
}

const startAt = (after: Position | undefined, [before = 0, level = 0]: readonly number[] = []): Start => ({
  after,
  before,
  level,
})

const createReader = <Row extends Position>(
  { sources, request, caller, cursors, trails }: ListOptions<Row>,
  order: Order,
) => {
  const { pageSize } = request
  const list = bindingOf(request, caller)
  const trail = trails.of(list)
  const { reading, near } = createPageReader<Row>(order, list, trails)

  const anchorsOf = (source: Source<Row>) => {
    const anchors = trail.anchors.get(source.id) ?? []
    trail.anchors.set(source.id, anchors)
    return anchors
  }

  /**
   * Leads a cursor after a walk that is about to leave the reach of pages, twice as fast as the walk from half way on: so that beyond it the walk goes on where
   * it stands, and not from the front.
   */
  const keepUp = async (source: Source<Row>, { skipped, total }: RowRange<Row>): Promise<void> => {
    const { maxPageDepth, maxPageSize } = source
    if (skipped < maxPageDepth / 2 || total <= 2 * maxPageDepth) return
    const anchors = anchorsOf(source)
    const tip = anchors.reduce((most, { place, fingerprint }) => (fingerprint === '' && place > most ? place : most), 0)
    const place = Math.min(2 * skipped - maxPageDepth, maxPageDepth)
    if (place - tip >= maxPageSize) await scanRange(source, order, { place }, 1, anchors, true, { total, text: '' })
  }

  /** What a source has behind a start: by page mode where it reaches, else by cursor. */
  const read = async (source: Source<Row>, start: Start, need: number, counted: boolean): Promise<RowRange<Row>> => {
    const { after } = start
    const aim = behind(order, after)
    const found = await near(source, aim, need, (how, many) => readRange(how, start, many))
    if (found && after) await keepUp(source, found)
    if (found) return found
    const seen = await source.fingerprint()
    const far = await readRange(reading(source, { backwards: true, total: seen.total }), start, need)
    return far ? aim.of(far) : scanRange(source, order, { after }, need, anchorsOf(source), counted, seen)
  }

  const pageOf = async (
    portions: readonly RowRange<Row>[],
    starts: readonly Start[],
    skip: number,
  ): Promise<Page<Row>> => {
    const rows = merge(portions, order).slice(skip, skip + pageSize)
    const last = rows.at(-1)
    // Elsewhere the rows of the page bear out what is counted with them.
    if (!last) await Promise.all(sources.map((source, nth) => verifyTotal(source, portions[nth]?.total ?? 0)))
    const left = sum(portions.map((portion) => portion.total - portion.skipped)) - skip
    const places = (row: Row) => portions.map((portion, nth) => placeOf(portion, starts[nth], row, order))
    return {
      items: rows,
      nextToken: last && left > pageSize ? cursors.issue(request, caller, last, places(last)) : '',
      totalCount: sum(portions.map((portion) => portion.total)),
    }
  }

  return {
    /** What comes behind the starts, one for each source. */
    async pageBehind(starts: readonly Start[]): Promise<Page<Row>> {
      const portions = await Promise.all(
        sources.map((source, nth) => read(source, starts[nth] ?? startAt(undefined), pageSize, false)),
      )
      return pageOf(portions, starts, 0)
    },

    /** By number, out of one source. */
    async pageAt(place: number): Promise<Page<Row>> {
      const [source] = sources
      if (!source) throw new ListChangedError('no source')
      const found = await near(source, from(place), pageSize, (how, many) => readRangeAt(how, place, many))
      const portion = found ?? (await farPortion(source, place))
      return pageOf([portion], [startAt(undefined)], 0)
    },

    /** By number, out of several: forward from the nearest bookmark, whose rank is counted anew. */
    async pageAround(place: number): Promise<Page<Row>> {
      const beginning: Bookmark = { after: { key: '', id: '' }, rank: 0, starts: sources.map(() => startAt(undefined)) }
      const known = trail.bookmarks.filter((bookmark) => bookmark.rank <= place)
      let bookmark = known.reduce((best, other) => (other.rank > best.rank ? other : best), beginning)
      while (true) {
        const { starts } = bookmark
        const need = Math.max(pageSize, Math.min(longestStep, place - bookmark.rank + pageSize))
        const portions = await Promise.all(
          sources.map((source, nth) => read(source, starts[nth] ?? startAt(undefined), need, true)),
        )
        const rank = sum(portions.map((portion) => portion.skipped))
        if (rank > place) {
          // Rows were taken away since the bookmark was made.
          bookmark = beginning
          continue
        }
        const rows = merge(portions, order)
        const isLast = portions.every((portion) => portion.complete)
        if (isLast || rank + rows.length >= place + pageSize) {
          const page = await pageOf(portions, starts, place - rank)
          const first = rows[place - rank - 1]
          if (first) keep(bookmarkAt(portions, starts, first, place))
          return page
        }
        const step = Math.min(rows.length, place - rank)
        const last = rows[step - 1]
        if (!last) throw new ListChangedError('a list that does not go on')
        bookmark = bookmarkAt(portions, starts, last, rank + step)
        keep(bookmark)
      }
    },
  }

  /** From a place that page mode does not reach from the front. */
  async function farPortion(source: Source<Row>, place: number): Promise<RowRange<Row>> {
    const seen = await source.fingerprint()
    if (place >= seen.total) return { rows: [], complete: true, skipped: seen.total, total: seen.total }
    const far = await readRangeAt(reading(source, { backwards: true, total: seen.total }), place, pageSize)
    return far ? from(place).of(far) : scanRange(source, order, { place }, pageSize, anchorsOf(source), true, seen)
  }

  function keep(bookmark: Bookmark): void {
    remember(trail.bookmarks, bookmark, (other) => other.rank === bookmark.rank)
  }

  function bookmarkAt(portions: readonly RowRange<Row>[], starts: readonly Start[], row: Row, rank: number): Bookmark {
    const after = positionOf(row)
    return {
      after,
      rank,
      starts: portions.map((portion, nth) => startAt(after, placeOf(portion, starts[nth], row, order))),
    }
  }
}

/** Most rows of each source that are read at once on the way to a place: a page of the source, less what settles the order at its ends. */
const longestStep = 97

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** The rows of all portions in exact order, as far as no portion could still have one in between. */
const merge = <Row extends Position>(portions: readonly RowRange<Row>[], order: Order): readonly Row[] => {
  const [only, ...others] = portions
  if (only && others.length === 0) return only.rows
  const ends = portions.flatMap((portion) => (portion.complete ? [] : portion.rows.slice(-1)))
  const [end] = ends.sort(order.rows)
  const rows = portions.flatMap((portion) => portion.rows).sort(order.rows)
  return end ? rows.filter((row) => order.rows(row, end) <= 0) : rows
}

/** How many rows of a portion's source have an earlier key than `row`, and how many of that key come up to it. */
const placeOf = <Row extends Position>(
  portion: RowRange<Row>,
  start: Start | undefined,
  row: Position,
  order: Order,
): [number, number] => {
  const earlier = portion.rows.filter((other) => order.keys(other.key, row.key) < 0).length
  const level = portion.rows.filter((other) => other.key === row.key && order.rows(other, row) <= 0).length
  const still = start?.after?.key === row.key
  return still ? [start.before, start.level + level] : [portion.skipped + earlier, level]
}
