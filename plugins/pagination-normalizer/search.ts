import { Problem } from '../shared/problem.ts'
import { bindingOf, type Cursors, requireCaller } from './cursor.ts'
import type { Position } from './order.ts'
import { cutPage, type Page } from './page.ts'
import type { ListRequest } from './parameters.ts'
import { type Fingerprint, ListChangedError, orderOf, type Source } from './source.ts'
import { scanAll } from './walk/scan.ts'
import type { SearchCache } from './walk/walk-cache.ts'

/** A filter that the upstream does not know. */
export interface Search<Row extends Position> {
  /** Names of the filters that `matches` applies. The sources ignore them: they always have the same rows. */
  readonly filters: readonly string[]
  readonly matches: (row: Row) => boolean
  /** Maximum number of rows to search. A list that has more is rejected with 400. */
  readonly maxRows: number
}

export interface SearchOptions<Row extends Position> {
  /** The sources that together make up the list; no row is in two of them. */
  readonly sources: readonly Source<Row>[]
  readonly request: ListRequest
  /** The user who sees the list. A token is valid only for this caller. */
  readonly caller: string
  readonly cursors: Cursors
  readonly searchCache: SearchCache
  readonly search: Search<Row>
}

/** How often a source is read again when it changes during the read. After that it is read by cursor. */
const maxAttempts = 3

/** Pages of one source that are read at the same time. */
const pagesAtOnce = 4

/**
 * One page of the rows that match a search, exact in order and total: all rows of the sources are read.
 *
 * A source whose rows fit into one page takes one call. A larger one takes a call for each page and two more, which
 * show that it did not change meanwhile; its rows are cached, and the next page or another search takes one call.
 *
 * Rejects with Problem 400 above `maxRows`, before more than one page of each source is read, with the error of a
 * source, and with TypeError without a caller.
 */
export const searchPage = async <Row extends Position>(options: SearchOptions<Row>): Promise<Page<Row>> => {
  const { sources, request, caller, cursors, searchCache, search } = options
  requireCaller(caller)
  const list = bindingOf(withoutFilters(request, search.filters), caller)
  const opened = await Promise.all(sources.map((source) => openSource(source, `${list}\n${source.id}`, searchCache)))
  const total = opened.reduce((sum, source) => sum + source.total, 0)
  if (total > search.maxRows) throw tooManyRows(request, search)
  const rows = await Promise.all(opened.map((source) => source.rows ?? source.read(search.maxRows)))
  return cutPage(rows.flat().filter(search.matches), request, caller, cursors)
}

const withoutFilters = ({ filter, ...request }: ListRequest, names: readonly string[]): ListRequest => ({
  ...request,
  filter: Object.fromEntries(Object.entries(filter).filter(([name]) => !names.includes(name))),
})

const tooManyRows = ({ filter }: ListRequest, { filters, maxRows }: Search<never>): Problem => {
  const given = filters.filter((name) => filter[name] !== undefined)
  return new Problem(
    400,
    `${given.join(' and ')}: the list has more than ${maxRows} items; add a filter of another kind`,
  )
}

/** A source whose total is known. */
interface OpenedSource<Row> {
  readonly total: number
  /** All rows, if they are known already. */
  readonly rows?: readonly Row[]
  /** Reads all rows. Throws ListChangedError when there are more than `maxRows`. */
  read(maxRows: number): Promise<readonly Row[]>
}

/** Reads the first page of a source, or finds its rows in the cache. */
const openSource = async <Row extends Position>(
  source: Source<Row>,
  key: string,
  searchCache: SearchCache,
): Promise<OpenedSource<Row>> => {
  const cached = searchCache.get<Row>(key)
  if (cached) {
    const current = await source.fingerprint()
    const read = (maxRows: number) => readSource(source, key, searchCache, maxRows, current)
    return current.text === cached.fingerprint
      ? { total: cached.rows.length, rows: cached.rows, read }
      : { total: current.total, read }
  }
  // Page mode counts the rows. When the page does not make sense, the source is read by cursor.
  const first = await source.page(1, source.maxPageSize, false).catch(undefinedIfChanged)
  const read = (maxRows: number) => readSource(source, key, searchCache, maxRows, undefined)
  if (!first) return { total: 0, read: (maxRows) => scanAll(source, anyOrder, maxRows) }
  return first.rows.length === first.total && isDistinct(first.rows)
    ? { total: first.total, rows: first.rows, read }
    : { total: first.total, read }
}

const anyOrder = orderOf('Asc')

const undefinedIfChanged = (error: unknown): undefined => {
  if (!(error instanceof ListChangedError)) throw error
}

const isDistinct = (rows: readonly Position[]): boolean => new Set(rows.map(({ id }) => id)).size === rows.length

/**
 * Reads all rows of a source in page mode. That they are complete is shown by their number, and by a fingerprint that
 * is the same afterwards: otherwise one row could go and another come between two pages, and a third be missed.
 */
const readSource = async <Row extends Position>(
  source: Source<Row>,
  key: string,
  searchCache: SearchCache,
  maxRows: number,
  known: Fingerprint | undefined,
): Promise<readonly Row[]> => {
  let before = known
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    try {
      before ??= await source.fingerprint()
      if (before.total > Math.min(source.maxPageDepth, maxRows)) break
      const rows = await readPages(source, before.total)
      const after = await source.fingerprint()
      if (rows.length === before.total && after.text === before.text) {
        searchCache.put(key, rows, after.text)
        return rows
      }
      before = after
    } catch (error) {
      undefinedIfChanged(error)
      before = undefined
    }
  }
  const rows = await scanAll(source, anyOrder, maxRows)
  const after = await source.fingerprint().catch(undefinedIfChanged)
  if (before && after?.text === before.text && after.total === rows.length) searchCache.put(key, rows, after.text)
  return rows
}

/** The distinct rows on all pages. Throws ListChangedError when the total changes. */
const readPages = async <Row extends Position>(source: Source<Row>, total: number): Promise<readonly Row[]> => {
  const pages = Math.ceil(total / source.maxPageSize)
  const rows = new Map<string, Row>()
  let next = 1
  const readOn = async () => {
    while (next <= pages) {
      const number = next++
      try {
        const page = await source.page(number, source.maxPageSize, false)
        if (page.total !== total) throw new ListChangedError('the list changed during the read')
        for (const row of page.rows) rows.set(row.id, row)
      } catch (error) {
        // The others stop too.
        next = pages + 1
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(pagesAtOnce, pages) }, readOn))
  return [...rows.values()]
}
