import type { Awaitable } from '../../shared/awaitable.ts'
import type { Position } from '../order.ts'
import {
  endOf,
  isAtEnd,
  ListChangedError,
  type Order,
  type ReadDirection,
  type RowSlice,
  readSlice,
  type Source,
  type WantedRows,
} from '../source.ts'

/**
 * Where to start reading: after a position. The search for it begins at the offset that it had when the token was
 * issued.
 */
export interface Start {
  /** Undefined: start at the beginning. */
  readonly after: Position | undefined
  /** Number of rows with an earlier key than that of `after`. */
  readonly keyOffset: number
  /** Number of rows with the key of `after`, up to and including it. */
  readonly tieRank: number
}

export const startAt = (after: Position | undefined, [keyOffset = 0, tieRank = 0]: readonly number[] = []): Start => ({
  after,
  keyOffset,
  tieRank,
})

/** Adjacent rows of a source, in exact order: each key is present with all its rows. */
export interface RowRange<Row> {
  readonly rows: readonly Row[]
  /** Whether no row of the source comes after them. */
  readonly complete: boolean
  /** Number of rows of the source before the first of them. */
  readonly offset: number
  readonly total: number
}

/** More rows have equal keys than the permitted number of calls can read. */
export class TooManyTiesError extends Error {}

/** How to read a source in page mode. */
export interface ReadOptions<Row extends Position> {
  readonly source: Source<Row>
  readonly order: Order
  readonly direction: ReadDirection
  /**
   * Additional rows that the first call reads if the page has room, because about so many rows are expected to have
   * equal keys.
   */
  readonly margin: number
  /** Maximum number of further calls that extend the first slice. Beyond it, TooManyTiesError is thrown. */
  readonly maxExtensions: number
}

/** The largest number of rows that have the same key. */
export const maxTies = (rows: readonly Position[]): number => {
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

/** Maximum number of calls that search for a position that has moved. It is enough for a binary search in any list. */
const maxProbes = 40

/**
 * Reads at least `need` rows after a start, or all there are, and perhaps some before it.
 *
 * It takes one call if the position has not moved and a page has room for one row more than needed: the order of rows
 * with equal keys is known only when the next key has been read. Undefined beyond the depth of page mode. Throws
 * ListChangedError when the list changes during the read, and TooManyTiesError.
 */
export const readRange = <Row extends Position>(
  options: ReadOptions<Row>,
  start: Start,
  need: number,
): Promise<RowRange<Row> | undefined> => {
  const { source, order, direction, margin } = options
  const { after } = start
  const first = after
    ? findSlice(options, after, start, need)
    : readSlice(source, order, direction, { start: 0, end: need + 1 + margin })
  return extend(options, first, ({ rows }) => {
    const found = after ? rows.filter((row) => order.rows(row, after) > 0).length : rows.length
    return { before: false, behind: found < need }
  })
}

/**
 * Reads at least `need` rows from an offset on, counted from the front. Returns undefined and throws as `readRange`
 * does.
 */
export const readRangeAt = async <Row extends Position>(
  options: ReadOptions<Row>,
  offset: number,
  need: number,
): Promise<RowRange<Row> | undefined> => {
  const { source, order, direction, margin } = options
  const wanted = { start: Math.max(0, offset - 1 - margin), end: offset + need + 1 + margin }
  const first = await readSlice(source, order, direction, wanted)
  if (!first) return undefined
  if (offset >= first.total) return { rows: [], complete: true, offset: first.total, total: first.total }
  return extend(options, first, (range, slice) => {
    if (endOf(slice) <= offset) throw new ListChangedError('the list changed during the read')
    return {
      before: range.offset > offset,
      behind: range.rows.length === 0 || range.offset + range.rows.length < offset + need,
    }
  })
}

/** The point from which on rows are needed: a position or an offset. */
export interface RangeTarget {
  /** Whether the first needed row is in a range that was read for another target. */
  readonly startsIn: (range: RowRange<Position>) => boolean
  /** The part of a range that begins with the first needed row. */
  readonly trim: <Row extends Position>(range: RowRange<Row>) => RowRange<Row>
}

export const rowsAfter = (order: Order, after: Position | undefined): RangeTarget => ({
  startsIn({ rows: [first], offset }) {
    return offset === 0 || (after !== undefined && first !== undefined && order.rows(first, after) <= 0)
  },
  trim(range) {
    const rows = after ? range.rows.filter((row) => order.rows(row, after) > 0) : range.rows
    return { ...range, rows, offset: range.offset + range.rows.length - rows.length }
  },
})

export const rowsFrom = (offset: number): RangeTarget => ({
  startsIn: (range) => range.offset <= offset,
  trim(range) {
    const unneeded = Math.max(0, offset - range.offset)
    return {
      ...range,
      rows: range.rows.slice(unneeded),
      offset: range.offset + Math.min(unneeded, range.rows.length),
    }
  },
})

/** Finds a slice that begins before the key of `after`, or at the front, and reaches that key. */
const findSlice = async <Row extends Position>(
  { source, order, direction, margin }: ReadOptions<Row>,
  after: Position,
  { keyOffset, tieRank }: Start,
  need: number,
): Promise<RowSlice<Row> | undefined> => {
  /** Rows before `low` have earlier keys; rows from `high` on do not. */
  let low = 0
  let high = Number.POSITIVE_INFINITY
  let offset = Math.max(0, keyOffset - 1)
  let length = tieRank + need + 2 + margin
  let stride = source.maxPageSize
  for (let probe = 0; probe < maxProbes; probe++) {
    const slice = await readSlice(source, order, direction, { start: offset, end: offset + length })
    if (!slice) return undefined
    const [first, last] = [slice.rows[0], slice.rows.at(-1)]
    if (!first || !last) {
      if (slice.total <= low) return { start: slice.total, rows: [], total: slice.total }
      high = Math.min(high, slice.total)
      offset = Math.max(low, high - source.maxPageSize)
    } else if (slice.start > 0 && order.keys(first.key, after.key) >= 0) {
      high = Math.min(high, slice.start)
      offset = Math.max(low, high - stride)
      stride *= 2
    } else if (!isAtEnd(slice) && order.keys(last.key, after.key) < 0) {
      // No more rows than before: those behind them are beyond the depth of page mode.
      if (endOf(slice) - 1 <= low) return undefined
      low = endOf(slice) - 1
      offset = Math.min(
        low + stride - source.maxPageSize,
        Math.max(low, Math.min(high, slice.total) - source.maxPageSize),
      )
      stride *= 2
    } else {
      return slice
    }
    // With a bound on both sides, continue with a binary search.
    if (high < Number.POSITIVE_INFINITY && low > 0)
      offset = Math.max(low, Math.floor((low + high) / 2) - source.maxPageSize / 2)
    length = source.maxPageSize
  }
  throw new ListChangedError('the position was not found')
}

/** On which sides rows are missing: further rows of the first key, or rows after the last. */
interface MissingRows {
  readonly before: boolean
  readonly behind: boolean
}

/**
 * Extends a slice, one call at a time, until no row is missing or there are no more. Undefined beyond the depth of page
 * mode.
 */
const extend = async <Row extends Position>(
  { source, order, direction, maxExtensions }: ReadOptions<Row>,
  first: Awaitable<RowSlice<Row> | undefined>,
  missingIn: (range: RowRange<Row>, slice: RowSlice<Row>) => MissingRows,
): Promise<RowRange<Row> | undefined> => {
  let slice = await first
  for (let extensions = 0; slice; extensions++) {
    const range = rangeOf(slice, order)
    const missing = missingIn(range, slice)
    const before = missing.before && slice.start > 0
    const behind = missing.behind && !isAtEnd(slice)
    if (!before && !behind) return range
    if (extensions >= maxExtensions) throw new TooManyTiesError()
    const next = await readSlice(source, order, direction, nextRows(slice, before, behind, source.maxPageSize))
    const longer = next && joinSlices(slice, next)
    // Beyond the maximum depth, `readSlice` returns the same rows again.
    slice = longer && longer.rows.length > slice.rows.length ? longer : undefined
  }
  return undefined
}

/** The rows to read next. They share a row with the slice, so that a change of the list is detected. */
const nextRows = <Row>(slice: RowSlice<Row>, before: boolean, behind: boolean, maxRows: number): WantedRows => {
  const end = endOf(slice)
  if (before && behind && slice.rows.length <= maxRows / 2) return { start: slice.start, end, balanced: true }
  if (before) return { start: Math.max(0, slice.start + 1 - maxRows), end: slice.start + 1, around: slice.start }
  return { start: end - 1, end: end - 1 + maxRows }
}

/** Joins two slices that share at least one row. Throws ListChangedError when the shared rows differ. */
const joinSlices = <Row extends Position>(one: RowSlice<Row>, other: RowSlice<Row>): RowSlice<Row> => {
  const [earlier, later] = one.start <= other.start ? [one, other] : [other, one]
  const shared = Math.min(endOf(earlier), endOf(later)) - later.start
  const isSame = (_: unknown, index: number) =>
    earlier.rows[later.start - earlier.start + index]?.id === later.rows[index]?.id
  if (shared < 1 || earlier.total !== later.total || !Array.from({ length: shared }).every(isSame)) {
    throw new ListChangedError('the list changed during the read')
  }
  return { start: earlier.start, rows: [...earlier.rows, ...later.rows.slice(shared)], total: later.total }
}

/** Number of rows at the front of a slice whose key may have further rows before the slice. */
const countIncompleteHead = <Row extends Position>({ start, rows }: RowSlice<Row>): number => {
  if (start === 0) return 0
  const different = rows.findIndex((row) => row.key !== rows[0]?.key)
  return different === -1 ? rows.length : different
}

/** The rows of a slice whose keys are present with all their rows, in exact order. */
const rangeOf = <Row extends Position>(slice: RowSlice<Row>, order: Order): RowRange<Row> => {
  const last = isAtEnd(slice) ? undefined : slice.rows.at(-1)?.key
  const end = last === undefined ? slice.rows.length : slice.rows.findIndex((row) => row.key === last)
  const start = countIncompleteHead(slice)
  const rows = slice.rows.slice(start, end).sort(order.rows)
  return { rows, complete: isAtEnd(slice), offset: slice.start + start, total: slice.total }
}
