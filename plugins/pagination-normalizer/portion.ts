import type { Position } from './order.ts'
import { endOf, isAtEnd, type Order, type Run, readRun, type Side, type Source, Unsteady } from './source.ts'

/** Where to begin: behind a position, which is looked for near the place where it was last seen. */
export interface Start {
  /** Undefined: at the beginning. */
  readonly after: Position | undefined
  /** How many rows had a key before that of `after`. */
  readonly before: number
  /** How many rows of the same key as `after` came up to it. */
  readonly level: number
}

/** What a source has behind a start, in exact order. */
export interface Portion<Row> {
  /** As many as were needed, or all that there are. */
  readonly rows: readonly Row[]
  /** Whether there is nothing behind them. */
  readonly complete: boolean
  /** How many rows of the source come before the first of them; undefined when they were not counted. */
  readonly skipped: number
  readonly total: number
}

/** Most probes for a place that has moved: enough to halve any list. */
const maxProbes = 40

/**
 * At least `need` rows behind a start, or all there are. One call when the place is where it was and the rows fit in a page; a row more than needed has to fit,
 * because where keys are equal the order among them is known only when the next key is.
 *
 * Undefined where page mode does not reach. Throws Unsteady when the list changes while it is read.
 */
export const readPortion = async <Row extends Position>(
  source: Source<Row>,
  order: Order,
  start: Start,
  need: number,
  side: Side,
): Promise<Portion<Row> | undefined> => {
  const { after } = start
  const opened = after
    ? await findStart(source, order, after, start, need, side)
    : await readRun(source, order, side, [0, need + 1])
  if (!opened) return undefined
  const isBehind = (row: Row) => !after || order.rows(row, after) > 0
  const run = await extend(source, order, side, opened, (settled) => settled.filter(isBehind).length >= need)
  return run && portionOf(run, order, isBehind)
}

/** At least `need` rows from a place on, counted from the front. Undefined and throws as above. */
export const readPortionAt = async <Row extends Position>(
  source: Source<Row>,
  order: Order,
  place: number,
  need: number,
  side: Side,
): Promise<Portion<Row> | undefined> => {
  let run = await readRun(source, order, side, [Math.max(0, place - 1), place + need + 1])
  if (run && place >= run.total) return { rows: [], complete: true, skipped: run.total, total: run.total }
  // Back to where the key at that place begins.
  while (run && run.start > 0 && run.rows[0]?.key === run.rows[place - run.start]?.key) {
    const back = [Math.max(0, run.start - source.maxPageSize + 1), run.start + 1] as const
    const earlier: Run<Row> | undefined = await readRun(source, order, side, back, run.start)
    run = earlier && join(earlier, run)
  }
  if (!run) return undefined
  const firstRow = run.start + leading(run)
  if (firstRow > place || endOf(run) <= place) throw new Unsteady('the list changed while it was read')
  const extended = await extend(source, order, side, run, (settled) => firstRow + settled.length >= place + need)
  if (!extended) return undefined
  const rows = settledRows(extended, order).slice(place - firstRow)
  return { rows, complete: isAtEnd(extended), skipped: place, total: extended.total }
}

/** A run that begins before the key of `after`, or at the front, and reaches that key. */
const findStart = async <Row extends Position>(
  source: Source<Row>,
  order: Order,
  after: Position,
  { before, level }: Start,
  need: number,
  side: Side,
): Promise<Run<Row> | undefined> => {
  /** Rows up to here have earlier keys; rows from there on do not. */
  let low = 0
  let high = Number.POSITIVE_INFINITY
  let at = Math.max(0, before - 1)
  let length = level + need + 2
  let stride = source.maxPageSize
  for (let probe = 0; probe < maxProbes; probe++) {
    const run = await readRun(source, order, side, [at, at + length])
    if (!run) return undefined
    const [first, last] = [run.rows[0], run.rows.at(-1)]
    if (!first || !last) {
      if (run.total <= low) return { start: run.total, rows: [], total: run.total }
      high = Math.min(high, run.total)
      at = Math.max(low, high - source.maxPageSize)
    } else if (run.start > 0 && order.keys(first.key, after.key) >= 0) {
      high = Math.min(high, run.start)
      at = Math.max(low, high - stride)
      stride *= 2
    } else if (!isAtEnd(run) && order.keys(last.key, after.key) < 0) {
      low = Math.max(low, endOf(run) - 1)
      at = Math.min(low + stride - source.maxPageSize, Math.max(low, Math.min(high, run.total) - source.maxPageSize))
      stride *= 2
    } else {
      return run
    }
    // Once it is between two places, halve.
    if (high < Number.POSITIVE_INFINITY && low > 0)
      at = Math.max(low, Math.floor((low + high) / 2) - source.maxPageSize / 2)
    length = source.maxPageSize
  }
  throw new Unsteady('a place that cannot be found')
}

/** The run, made longer until `enough` of its rows are settled or the list ends. */
const extend = async <Row extends Position>(
  source: Source<Row>,
  order: Order,
  side: Side,
  run: Run<Row>,
  enough: (settled: readonly Row[]) => boolean,
): Promise<Run<Row> | undefined> => {
  let longer = run
  while (!isAtEnd(longer) && !enough(settledRows(longer, order))) {
    const end = endOf(longer)
    const next = await readRun(source, order, side, [Math.max(0, end - 1), end - 1 + source.maxPageSize])
    // Beyond the depth of pages the same rows come again.
    if (!next || (endOf(next) <= end && !isAtEnd(next))) return undefined
    longer = join(longer, next)
  }
  return longer
}

/** Two runs that share at least a row, as one. Throws Unsteady when what they share is not the same. */
const join = <Row extends Position>(earlier: Run<Row>, later: Run<Row>): Run<Row> => {
  const shared = endOf(earlier) - later.start
  const same = Array.from({ length: Math.min(shared, later.rows.length) }).every(
    (_, nth) => earlier.rows[earlier.rows.length - shared + nth]?.id === later.rows[nth]?.id,
  )
  if (
    shared < 1 ||
    !same ||
    earlier.total !== later.total ||
    endOf(later) <= endOf(earlier) ||
    earlier.start >= later.start
  ) {
    throw new Unsteady('the list changed while it was read')
  }
  return { start: earlier.start, rows: [...earlier.rows, ...later.rows.slice(shared)], total: later.total }
}

/** How many rows at the front of a run share a key whose first rows may lie before it. */
const leading = <Row extends Position>({ start, rows }: Run<Row>): number => {
  if (start === 0) return 0
  const different = rows.findIndex((row) => row.key !== rows[0]?.key)
  return different === -1 ? rows.length : different
}

/** Rows whose key is in the run with all its rows, in exact order. */
const settledRows = <Row extends Position>(run: Run<Row>, order: Order): readonly Row[] => {
  const last = isAtEnd(run) ? undefined : run.rows.at(-1)?.key
  const end = last === undefined ? run.rows.length : run.rows.findIndex((row) => row.key === last)
  return run.rows.slice(leading(run), end).toSorted(order.rows)
}

const portionOf = <Row extends Position>(
  run: Run<Row>,
  order: Order,
  isBehind: (row: Row) => boolean,
): Portion<Row> => {
  const settled = settledRows(run, order)
  const rows = settled.filter(isBehind)
  const skipped = run.start + leading(run) + settled.length - rows.length
  return { rows, complete: isAtEnd(run), skipped, total: run.total }
}
