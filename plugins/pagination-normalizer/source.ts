import { Problem } from '../shared/problem.ts'
import { comparePositions, type Position } from './order.ts'

/**
 * An upstream's list, as other people's APIs page it: sorted by a key, in an order of its own where keys are equal, in pages that are limited in size
 * and depth, and by cursors that are not. Filters that it applies are applied; rows that it should not have listed are left out by whoever wraps it.
 */
export interface Source<Row extends Position> {
  /** Tells it from other sources: another one for other filters. */
  readonly id: string
  /**
   * Page `number`, from 1, of `size` rows; of the list read from its other end when `backwards`. `total` counts all rows. Throws Unsteady when the page holds
   * rows that were not asked for: then the total counts them too.
   */
  page(number: number, size: number, backwards: boolean): Promise<SourcePage<Row>>
  /** The rows behind a cursor, or the first ones. At the end the next cursor is undefined. Throws Unsteady for a cursor that has gone stale. */
  walk(cursor: string | undefined, size: number): Promise<SourceSegment<Row>>
  /** Something that changes, in all likelihood, whenever the list does. Throws Unsteady as `page` does. */
  fingerprint(): Promise<Fingerprint>
  /** Most rows in a page or stretch. */
  readonly maxPageSize: number
  /** Largest product of page number and size. */
  readonly maxPageDepth: number
}

export interface SourcePage<Row> {
  readonly rows: readonly Row[]
  readonly total: number
}

export interface SourceSegment<Row> {
  readonly rows: readonly Row[]
  readonly cursor: string | undefined
  /** Whether there were rows that were not asked for. They are left out. */
  readonly foreign?: boolean
}

export interface Fingerprint {
  readonly total: number
  readonly text: string
}

/** The list changed under the reader's hands, or is not what was asked for. Met by reading anew; a caller sees it as a 502 when that does not help. */
export class ListChangedError extends Problem {
  constructor(cause: string) {
    super(502, 'the upstream’s list makes no sense', { cause })
  }
}

/** Ascending or descending, by key and then by id. */
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

/** Rows that stand next to each other in a source, from a known place on. */
export interface Run<Row> {
  /** How many rows of the source come before. */
  readonly start: number
  readonly rows: readonly Row[]
  readonly total: number
}

export const endOf = <Row>(run: Run<Row>): number => run.start + run.rows.length
export const isAtEnd = <Row>(run: Run<Row>): boolean => endOf(run) >= run.total

/** From which end a list is read. What was read from one does not go together with what was read from the other: rows of equal keys keep their order. */
export type Side =
  | { readonly backwards: false }
  | { readonly backwards: true /** As last seen. */; readonly total: number }

/** The rows that a call is to bring. Their numbers count from the front. */
export interface Wanted {
  readonly start: number
  /** Behind the last one. */
  readonly end: number
  /** The one that has to be among them, where one page cannot hold them all. Default the first. */
  readonly around?: number
  /** Then it has to hold all of them, and as many as it can before and behind them. */
  readonly balanced?: boolean
}

/**
 * Rows of a source in one call: a page of a grid that happens to hold them, and perhaps some around them. Where no grid fits, as many as one page can hold.
 * Undefined where page mode does not reach. Throws Unsteady when rows are out of order, or fewer than the total promises.
 */
export const readRun = async <Row extends Position>(
  source: Source<Row>,
  order: Order,
  side: Side,
  wanted: Wanted,
): Promise<Run<Row> | undefined> => {
  const { start, end, around = start, balanced } = wanted
  if (!side.backwards) {
    const grid = gridOf(source, { start, end, around, balanced })
    if (!grid) return undefined
    const page = await source.page(grid.number, grid.size, false)
    return checked({ start: (grid.number - 1) * grid.size, rows: page.rows, total: page.total }, grid.size, order)
  }
  const { total } = side
  if (around >= total) return undefined
  const mirrored = { start: Math.max(0, total - end), end: total - start, around: total - 1 - around, balanced }
  const grid = gridOf(source, mirrored)
  if (!grid) return undefined
  const page = await source.page(grid.number, grid.size, true)
  const first = Math.max(0, page.total - (grid.number - 1) * grid.size - page.rows.length)
  return checked({ start: first, rows: page.rows.toReversed(), total: page.total }, grid.size, order)
}

/** The page with row `around` that holds most of the rows wanted; of several the smallest. Balanced: the one that holds them farthest from its ends. */
const gridOf = (
  { maxPageSize, maxPageDepth }: Pick<Source<never>, 'maxPageSize' | 'maxPageDepth'>,
  { start, end, around, balanced }: Wanted & { readonly around: number },
): { number: number; size: number } | undefined => {
  // From the front, a page of just that size has them all.
  if (start === 0 && around === 0 && !balanced)
    return { number: 1, size: Math.max(1, Math.min(end, maxPageSize, maxPageDepth)) }
  let best: { number: number; size: number; worth: number } | undefined
  for (let size = 1; size <= maxPageSize; size++) {
    const number = Math.floor(around / size) + 1
    const [first, last] = [(number - 1) * size, number * size]
    if (last > maxPageDepth) continue
    const before = first === 0 ? size : start - first
    const worth = balanced ? Math.min(before, last - end) : Math.min(end, last) - Math.max(start, first)
    if (balanced && worth < 0) continue
    if (!best || worth > best.worth) best = { number, size, worth }
  }
  return best
}

const checked = <Row extends Position>(run: Run<Row>, size: number, order: Order): Run<Row> => {
  let before: Row | undefined
  for (const row of run.rows) {
    if (before && order.keys(before.key, row.key) > 0) throw new ListChangedError('rows are not in the order asked for')
    before = row
  }
  if (run.rows.length < size && run.start + run.rows.length < run.total)
    throw new ListChangedError('rows that are promised are missing')
  return run
}

/**
 * Throws Unsteady unless the rows at both ends of a source are there and the total is as it was said to be: for a total that no row stands beside. One that
 * counts what was not asked for shows in such rows.
 */
export const verifyTotal = async <Row extends Position>(source: Source<Row>, total: number): Promise<void> => {
  if (total === 0) return
  const size = Math.min(total, source.maxPageSize)
  const ends = total <= source.maxPageSize ? [false] : [false, true]
  const pages = await Promise.all(ends.map((backwards) => source.page(1, size, backwards)))
  if (pages.some((page) => page.total !== total || page.rows.length !== size)) {
    throw new ListChangedError('a total that the rows do not bear out')
  }
}
