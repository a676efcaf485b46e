import { Problem } from '../shared/problem.ts'
import { comparePositions, type Position } from './order.ts'

/**
 * An upstream's list, as other people's APIs page it: sorted by a key, in an order of its own where keys are equal, in pages that are limited in size
 * and depth, and by cursors that are not. Filters that it applies are applied; rows that it should not have listed are left out by whoever wraps it.
 */
export interface Source<Row extends Position> {
  /** Tells it from other sources: another one for other filters. */
  readonly id: string
  /** Page `number`, from 1, of `size` rows; of the list read from its other end when `backwards`. `total` counts all rows. */
  page(number: number, size: number, backwards: boolean): Promise<SourcePage<Row>>
  /** The rows behind a cursor, or the first ones. At the end the next cursor is undefined. Throws Unsteady for a cursor that has gone stale. */
  walk(cursor: string | undefined, size: number): Promise<SourceStretch<Row>>
  /** Something that changes, in all likelihood, whenever the list does. */
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

export interface SourceStretch<Row> {
  readonly rows: readonly Row[]
  readonly cursor: string | undefined
}

export interface Fingerprint {
  readonly total: number
  readonly text: string
}

/** The list changed under the reader's hands, or is not what was asked for. Met by reading anew; a caller sees it as a 502 when that does not help. */
export class Unsteady extends Problem {
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

/**
 * Rows `start` to `end`, and perhaps some around them, in one call: a page of a grid that happens to hold them. Where no grid fits, as many as one page
 * can hold next to row `around`, which is among them. Undefined where page mode does not reach. Throws Unsteady when rows are out of order.
 */
export const readRun = async <Row extends Position>(
  source: Source<Row>,
  order: Order,
  side: Side,
  [start, end]: readonly [number, number],
  around = start,
): Promise<Run<Row> | undefined> => {
  if (!side.backwards) {
    const grid = gridOf(source, start, end, around)
    if (!grid) return undefined
    const page = await source.page(grid.number, grid.size, false)
    return checked({ start: (grid.number - 1) * grid.size, rows: page.rows, total: page.total }, order)
  }
  const { total } = side
  const grid = around < total && gridOf(source, Math.max(0, total - end), total - start, total - 1 - around)
  if (!grid) return undefined
  const page = await source.page(grid.number, grid.size, true)
  const first = Math.max(0, page.total - (grid.number - 1) * grid.size - page.rows.length)
  return checked({ start: first, rows: page.rows.toReversed(), total: page.total }, order)
}

/** The page with row `around` that holds most of the rows from `start` to `end`; of several the smallest. */
const gridOf = (
  { maxPageSize, maxPageDepth }: Pick<Source<never>, 'maxPageSize' | 'maxPageDepth'>,
  start: number,
  end: number,
  around: number,
): { number: number; size: number } | undefined => {
  let best: { number: number; size: number; held: number } | undefined
  for (let size = 1; size <= maxPageSize; size++) {
    const number = Math.floor(around / size) + 1
    if (number * size > maxPageDepth) continue
    const held = Math.min(end, number * size) - Math.max(start, (number - 1) * size)
    if (!best || held > best.held) best = { number, size, held }
  }
  return best
}

const checked = <Row extends Position>(run: Run<Row>, order: Order): Run<Row> => {
  for (const [index, row] of run.rows.entries()) {
    const next = run.rows[index + 1]
    if (next && order.keys(row.key, next.key) > 0) throw new Unsteady('rows are not in the order asked for')
  }
  return run
}
