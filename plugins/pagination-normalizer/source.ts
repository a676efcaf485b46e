import { Problem } from '../shared/problem.ts'
import { comparePositions, type Position } from './order.ts'

/**
 * An upstream list with the usual limits: the order of rows with equal keys is undefined, and page mode has a maximum
 * size and depth.
 *
 * Cursors have no maximum depth. The source applies its filters itself. Its implementation drops rows that the upstream
 * should not have listed.
 */
export interface Source<Row extends Position> {
  /** Identifies the source. A source with other filters has another id. */
  readonly id: string
  /**
   * Reads page `number`, from 1, of `size` rows; in the opposite sort order when `backwards`. `total` counts all rows.
   *
   * Throws ListChangedError when the page contains rows that the request did not ask for, because then the total counts
   * them too.
   */
  page(number: number, size: number, backwards: boolean): Promise<SourcePage<Row>>
  /**
   * Reads the rows after a cursor, or the first rows. At the end the next cursor is undefined. Throws ListChangedError
   * for a stale cursor.
   */
  walk(cursor: string | undefined, size: number): Promise<SourceSegment<Row>>
  /** A text that very likely changes whenever the list changes, and the total. Throws ListChangedError like `page`. */
  fingerprint(): Promise<Fingerprint>
  /**
   * Checks that a total, above 0, counts only rows that the request asked for, when the rows of a page do not show it.
   * Throws ListChangedError otherwise. Default: it does.
   */
  checkTotal?(total: number): Promise<void> | undefined
  /** Maximum number of rows in a page or segment. */
  readonly maxPageSize: number
  /** Maximum product of page number and page size. */
  readonly maxPageDepth: number
}

export interface SourcePage<Row> {
  readonly rows: readonly Row[]
  readonly total: number
}

export interface SourceSegment<Row> {
  readonly rows: readonly Row[]
  readonly cursor: string | undefined
  /** Whether the upstream sent rows that the request did not ask for. They are not in `rows`. */
  readonly foreign?: boolean
}

export interface Fingerprint {
  readonly total: number
  readonly text: string
}

/**
 * The upstream's list changed between two calls, or it is inconsistent. `listPage` reads again; if that does not help,
 * the caller gets a 502.
 */
export class ListChangedError extends Problem {
  constructor(cause: string) {
    super(502, 'the upstream sent an inconsistent list', { cause })
  }
}

/** Comparison functions for one sort direction: by key only, and by key and then id. */
export interface Order {
  readonly keys: (a: string, b: string) => number
  readonly rows: (a: Position, b: Position) => number
}

export const orderOf = (sortOrder: 'Asc' | 'Desc'): Order => {
  const direction = sortOrder === 'Asc' ? 1 : -1
  return {
    keys: (a, b) => (a < b ? -direction : a > b ? direction : 0),
    rows: (a, b) => direction * comparePositions(a, b),
  }
}

/** Adjacent rows of a source, in the upstream's order, at a known offset. */
export interface RowSlice<Row> {
  /** Number of rows of the source before them. */
  readonly start: number
  readonly rows: readonly Row[]
  readonly total: number
}

export const endOf = <Row>(slice: RowSlice<Row>): number => slice.start + slice.rows.length
export const isAtEnd = <Row>(slice: RowSlice<Row>): boolean => endOf(slice) >= slice.total

/**
 * From which end a list is read. Slices of different directions cannot be joined: an upstream may list rows with equal
 * keys in the same order in both directions.
 */
export type ReadDirection =
  | { readonly backwards: false }
  | { readonly backwards: true /** The total of the latest response. */; readonly total: number }

/** The rows that one call should return. Offsets count from the front. */
export interface WantedRows {
  readonly start: number
  /** Offset after the last row. */
  readonly end: number
  /** The row that the page must contain when one page cannot contain them all. Default: the first. */
  readonly around?: number
  /** When set, the page must contain all of them, and as many rows as possible on both sides. */
  readonly balanced?: boolean
}

/**
 * Reads rows of a source with one call, in a page that contains the wanted rows and perhaps some around them.
 *
 * When no page contains all wanted rows, it reads as many as possible. Undefined beyond the depth of page mode. Throws
 * ListChangedError when rows are out of order, or fewer than the total implies.
 */
export const readSlice = async <Row extends Position>(
  source: Source<Row>,
  order: Order,
  direction: ReadDirection,
  wanted: WantedRows,
): Promise<RowSlice<Row> | undefined> => {
  const { start, end, around = start, balanced } = wanted
  if (!direction.backwards) {
    const best = bestPage(source, { start, end, around, balanced })
    if (!best) return undefined
    const page = await source.page(best.number, best.size, false)
    return verified({ start: (best.number - 1) * best.size, rows: page.rows, total: page.total }, best.size, order)
  }
  const { total } = direction
  if (around >= total) return undefined
  const mirrored = { start: Math.max(0, total - end), end: total - start, around: total - 1 - around, balanced }
  const best = bestPage(source, mirrored)
  if (!best) return undefined
  const page = await source.page(best.number, best.size, true)
  const first = Math.max(0, page.total - (best.number - 1) * best.size - page.rows.length)
  return verified({ start: first, rows: page.rows.toReversed(), total: page.total }, best.size, order)
}

/**
 * The page that contains row `around` and the most wanted rows; the smallest of several. When balanced: the page that
 * contains all wanted rows and has the largest margin at its narrower side.
 */
const bestPage = (
  { maxPageSize, maxPageDepth }: Pick<Source<never>, 'maxPageSize' | 'maxPageDepth'>,
  { start, end, around, balanced }: WantedRows & { readonly around: number },
): { number: number; size: number } | undefined => {
  // From the front, page 1 of just that size contains them all.
  if (start === 0 && around === 0 && !balanced)
    return { number: 1, size: Math.max(1, Math.min(end, maxPageSize, maxPageDepth)) }
  let best: { number: number; size: number; score: number } | undefined
  for (let size = 1; size <= maxPageSize; size++) {
    const number = Math.floor(around / size) + 1
    const [first, last] = [(number - 1) * size, number * size]
    if (last > maxPageDepth) continue
    const before = first === 0 ? size : start - first
    const score = balanced ? Math.min(before, last - end) : Math.min(end, last) - Math.max(start, first)
    if (balanced && score < 0) continue
    if (!best || score > best.score) best = { number, size, score }
  }
  return best
}

const verified = <Row extends Position>(slice: RowSlice<Row>, size: number, order: Order): RowSlice<Row> => {
  let previous: Row | undefined
  for (const row of slice.rows) {
    if (previous && order.keys(previous.key, row.key) > 0)
      throw new ListChangedError('rows are not in the requested order')
    previous = row
  }
  if (slice.rows.length < size && slice.start + slice.rows.length < slice.total)
    throw new ListChangedError('a page has fewer rows than its total implies')
  return slice
}

/**
 * Verifies a total when the page itself has no rows that confirm it: reads the rows at both ends of the source.
 *
 * Throws ListChangedError unless they are there and the total is the same. If the total counts rows that the request
 * did not ask for, such rows appear at one of the ends, and the source throws.
 */
export const verifyTotal = async <Row extends Position>(source: Source<Row>, total: number): Promise<void> => {
  if (total === 0) return
  const size = Math.min(total, source.maxPageSize)
  const ends = total <= source.maxPageSize ? [false] : [false, true]
  const pages = await Promise.all(ends.map((backwards) => source.page(1, size, backwards)))
  if (pages.some((page) => page.total !== total || page.rows.length !== size)) {
    throw new ListChangedError('the rows do not confirm the total')
  }
}
