import type { Position } from './order.ts'
import {
  endOf,
  isAtEnd,
  ListChangedError,
  type Order,
  type Run,
  readRun,
  type Side,
  type Source,
  type Wanted,
} from './source.ts'

/** Where to begin: behind a position, which is looked for near the place where it was last seen. */
export interface Start {
  /** Undefined: at the beginning. */
  readonly after: Position | undefined
  /** How many rows had a key before that of `after`. */
  readonly before: number
  /** How many rows of the same key as `after` came up to it. */
  readonly level: number
}

/** Rows that lie next to each other in a source, in exact order. */
export interface RowRange<Row> {
  readonly rows: readonly Row[]
  /** Whether there is nothing behind them. */
  readonly complete: boolean
  /** How many rows of the source come before the first of them. */
  readonly skipped: number
  readonly total: number
}

/** More rows have equal keys than the calls that were granted can bring. */
export class RunTooLongError extends Error {}

/** How a source is to be read. */
export interface Reading<Row extends Position> {
  readonly source: Source<Row>
  readonly order: Order
  readonly side: Side
  /** Rows beside those needed that the first call brings, if it can, because so many are expected to share their keys. */
  readonly margin: number
  /** How often rows may be added to those of the first call before TooLong is thrown. */
  readonly additions: number
}

/** The most rows in a portion that share a key. */
export const longestRun = ({ rows }: RowRange<Position>): number => {
  let longest = 0
  let length = 0
  let key: string | undefined
  for (const row of rows) {
    length = row.key === key ? length + 1 : 1
    key = row.key
    if (length > longest) longest = length
  }
  return longest
}

/** Most probes for a place that has moved: enough to halve any list. */
const maxProbes = 40

/**
 * A portion with at least `need` rows behind a start, or all there are, and perhaps some before. One call when the place is where it was and the rows fit in a
 * page; a row more than needed has to fit, because where keys are equal the order among them is known only when the next key is.
 *
 * Undefined where page mode does not reach. Throws Unsteady when the list changes while it is read, and TooLong.
 */
export const readRange = async <Row extends Position>(
  reading: Reading<Row>,
  start: Start,
  need: number,
): Promise<RowRange<Row> | undefined> => {
  const { source, order, side, margin } = reading
  const { after } = start
  const opened = after
    ? await findStart(reading, after, start, need)
    : await readRun(source, order, side, { start: 0, end: need + 1 + margin })
  return (
    opened &&
    widened(reading, opened, ({ rows }) => {
      const found = after ? rows.filter((row) => order.rows(row, after) > 0).length : rows.length
      return { before: false, behind: found < need }
    })
  )
}

/** A portion with at least `need` rows from a place on, counted from the front. Undefined and throws as above. */
export const readRangeAt = async <Row extends Position>(
  reading: Reading<Row>,
  place: number,
  need: number,
): Promise<RowRange<Row> | undefined> => {
  const { source, order, side, margin } = reading
  const wanted = { start: Math.max(0, place - 1 - margin), end: place + need + 1 + margin }
  const opened = await readRun(source, order, side, wanted)
  if (!opened) return undefined
  if (place >= opened.total) return { rows: [], complete: true, skipped: opened.total, total: opened.total }
  return widened(reading, opened, ({ skipped, rows }, run) => {
    if (endOf(run) <= place) throw new ListChangedError('the list changed while it was read')
    return { before: skipped > place, behind: rows.length === 0 || skipped + rows.length < place + need }
  })
}

/** Which rows of a portion are meant. */
export interface RangeTarget {
  /** Whether a portion that was read for another aim has the first of them. */
  readonly isIn: (portion: RowRange<Position>) => boolean
  /** The part of a portion that begins with the first of them. */
  readonly of: <Row extends Position>(portion: RowRange<Row>) => RowRange<Row>
}

export const behind = (order: Order, after: Position | undefined): RangeTarget => ({
  isIn({ rows: [first], skipped }) {
    return skipped === 0 || (after !== undefined && first !== undefined && order.rows(first, after) <= 0)
  },
  of(portion) {
    const rows = after ? portion.rows.filter((row) => order.rows(row, after) > 0) : portion.rows
    return { ...portion, rows, skipped: portion.skipped + portion.rows.length - rows.length }
  },
})

export const from = (place: number): RangeTarget => ({
  isIn: ({ skipped }) => skipped <= place,
  of(portion) {
    const useless = Math.max(0, place - portion.skipped)
    return {
      ...portion,
      rows: portion.rows.slice(useless),
      skipped: portion.skipped + Math.min(useless, portion.rows.length),
    }
  },
})

/** A run that begins before the key of `after`, or at the front, and reaches that key. */
const findStart = async <Row extends Position>(
  { source, order, side, margin }: Reading<Row>,
  after: Position,
  { before, level }: Start,
  need: number,
): Promise<Run<Row> | undefined> => {
  /** Rows up to here have earlier keys; rows from there on do not. */
  let low = 0
  let high = Number.POSITIVE_INFINITY
  let at = Math.max(0, before - 1)
  let length = level + need + 2 + margin
  let stride = source.maxPageSize
  for (let probe = 0; probe < maxProbes; probe++) {
    const run = await readRun(source, order, side, { start: at, end: at + length })
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
  throw new ListChangedError('a place that cannot be found')
}

/** What a run has too little of: the rows of its first key, or of its last. */
interface Lack {
  readonly before: boolean
  readonly behind: boolean
}

/** A run, widened call by call until it lacks nothing, or there is nothing more. Undefined where page mode does not reach. */
const widened = async <Row extends Position>(
  { source, order, side, additions }: Reading<Row>,
  opened: Run<Row>,
  lackOf: (portion: RowRange<Row>, run: Run<Row>) => Lack,
): Promise<RowRange<Row> | undefined> => {
  let run = opened
  for (let added = 0; ; added++) {
    const portion = portionOf(run, order)
    const lack = lackOf(portion, run)
    const before = lack.before && run.start > 0
    const behind = lack.behind && !isAtEnd(run)
    if (!before && !behind) return portion
    if (added >= additions) throw new RunTooLongError()
    const next = await readRun(source, order, side, beside(run, before, behind, source.maxPageSize))
    const wider = next && join(run, next)
    // Beyond the depth of pages the same rows come again.
    if (!wider || wider.rows.length === run.rows.length) return undefined
    run = wider
  }
}

/** The rows to ask for next. They share a row with the run: by it a change shows. */
const beside = <Row>(run: Run<Row>, before: boolean, behind: boolean, most: number): Wanted => {
  const end = endOf(run)
  if (before && behind && run.rows.length <= most / 2) return { start: run.start, end, balanced: true }
  if (before) return { start: Math.max(0, run.start + 1 - most), end: run.start + 1, around: run.start }
  return { start: end - 1, end: end - 1 + most }
}

/** Two runs that share at least a row, as one. Throws Unsteady when what they share is not the same. */
const join = <Row extends Position>(one: Run<Row>, other: Run<Row>): Run<Row> => {
  const [earlier, later] = one.start <= other.start ? [one, other] : [other, one]
  const shared = Math.min(endOf(earlier), endOf(later)) - later.start
  const isSame = (_: unknown, nth: number) =>
    earlier.rows[later.start - earlier.start + nth]?.id === later.rows[nth]?.id
  if (shared < 1 || earlier.total !== later.total || !Array.from({ length: shared }).every(isSame)) {
    throw new ListChangedError('the list changed while it was read')
  }
  return { start: earlier.start, rows: [...earlier.rows, ...later.rows.slice(shared)], total: later.total }
}

/** How many rows at the front of a run share a key whose first rows may lie before it. */
const leading = <Row extends Position>({ start, rows }: Run<Row>): number => {
  if (start === 0) return 0
  const different = rows.findIndex((row) => row.key !== rows[0]?.key)
  return different === -1 ? rows.length : different
}

/** The rows of a run whose key is in it with all its rows. */
const portionOf = <Row extends Position>(run: Run<Row>, order: Order): RowRange<Row> => {
  const last = isAtEnd(run) ? undefined : run.rows.at(-1)?.key
  const end = last === undefined ? run.rows.length : run.rows.findIndex((row) => row.key === last)
  const start = leading(run)
  const rows = run.rows.slice(start, end).toSorted(order.rows)
  return { rows, complete: isAtEnd(run), skipped: run.start + start, total: run.total }
}
