import { type Position, positionOf } from '../order.ts'
import { type Order, readSlice, type Source } from '../source.ts'
import { type RowRange, startAt } from './range.ts'
import type { Bookmark } from './walk-cache.ts'

/** How many rows come before a place in a list of several sources. */
export interface Rank {
  /** Of all sources. */
  readonly rank: number
  /** Of each source. */
  readonly offsets: readonly number[]
  /** The rows of each source. */
  readonly totals: readonly number[]
}

/** The rank of the first rows of ranges, one for each source. */
export const rankOf = (ranges: readonly RowRange<Position>[]): Rank => rankAt(ranges, ({ offset }) => offset)

/** The rank of the end of the list. */
export const rankOfEnd = (ranges: readonly RowRange<Position>[]): Rank => rankAt(ranges, ({ total }) => total)

const rankAt = (ranges: readonly RowRange<Position>[], offsetOf: (range: RowRange<Position>) => number): Rank => {
  const offsets = ranges.map(offsetOf)
  return { rank: sum(offsets), offsets, totals: ranges.map(({ total }) => total) }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** Between which places to estimate one, and at which share of the rows between them: from 0 to 1. */
export interface EstimatedPlace {
  readonly below: Bookmark
  readonly above: Rank
  readonly share: number
}

/**
 * Estimates a place between two others, with one call for each source: the row at the share of its rows between them.
 * Of these rows it takes the one at the same share of all rows. Its rank must be counted then.
 *
 * Where the rows of all sources are mixed evenly, the rank is near the share. Where they are not, a share of a half
 * leaves at least a quarter of the rows on either side: it is the weighted median of medians.
 *
 * Undefined if a source does not have such a row, or has it beyond the depth of page mode.
 */
export const estimate = async <Row extends Position>(
  sources: readonly Source<Row>[],
  order: Order,
  { below, above, share }: EstimatedPlace,
): Promise<Bookmark | undefined> => {
  const probes = await Promise.all(
    sources.map(async (source, index) => {
      const { keyOffset = 0, tieRank = 0 } = below.starts[index] ?? {}
      const from = keyOffset + tieRank
      const rows = Math.max(0, (above.offsets[index] ?? 0) - from)
      const at = from + Math.floor(rows * share)
      return { at, rows, row: rows > 0 ? await readRow(source, order, at, above.totals[index] ?? 0) : undefined }
    }),
  )
  if (probes.some(({ rows, row }) => rows > 0 && !row)) return undefined
  const found = probes.flatMap(({ rows, row }) => (row ? [{ rows, row }] : []))
  found.sort((one, other) => order.rows(one.row, other.row))
  const wanted = share * sum(found.map(({ rows }) => rows))
  let before = 0
  const pivot = found.find(({ rows }) => {
    before += rows
    return before >= wanted
  })
  if (!pivot) return undefined
  const after = positionOf(pivot.row)
  // It has that rank at least.
  return { after, rank: below.rank, starts: probes.map(({ at }) => startAt(after, [at])) }
}

/** Reads one row in page mode, from the end of the list that is near enough. */
const readRow = async <Row extends Position>(
  source: Source<Row>,
  order: Order,
  at: number,
  total: number,
): Promise<Row | undefined> => {
  const wanted = { start: at, end: at + 1 }
  const slice =
    (await readSlice(source, order, { backwards: false }, wanted)) ??
    (await readSlice(source, order, { backwards: true, total }, wanted))
  return slice?.rows[at - slice.start]
}
