import { copyText } from '../../shared/text.ts'
import { type Position, positionOf } from '../order.ts'
import { type Fingerprint, ListChangedError, type Order, type Source } from '../source.ts'
import type { RowRange } from './range.ts'
import { type Anchor, addMark } from './walk-cache.ts'

/**
 * Reads all rows of a source by cursor, in exact order. Throws ListChangedError for an endless list, and for one with
 * more than `maxRows`.
 *
 * The later version of a row that appears twice is kept: a row can move while the list is read.
 */
export const scanAll = async <Row extends Position>(
  source: Source<Row>,
  order: Order,
  maxRows = Number.POSITIVE_INFINITY,
): Promise<readonly Row[]> => {
  const rows = new Map<string, Row>()
  for await (const segment of segmentsOf(source, undefined)) {
    for (const row of segment.rows) rows.set(row.id, row)
    if (rows.size > maxRows) throw new ListChangedError('the list has more rows than its total')
  }
  return [...rows.values()].sort(order.rows)
}

/**
 * Maximum number of consecutive segments without a new row. An upstream that filters after paging returns such
 * segments.
 */
const maxEmptySegments = 100

/**
 * The segments of a source from a cursor on, each with the cursor that led to it. Throws ListChangedError when the
 * cursors form a cycle.
 */
async function* segmentsOf<Row extends Position>(source: Source<Row>, from: string | undefined) {
  const seen = new Set<string>()
  let cursor = from
  for (let empty = 0; empty <= maxEmptySegments; empty++) {
    const segment = await source.walk(cursor, source.maxPageSize)
    const sizeBefore = seen.size
    for (const { id } of segment.rows) seen.add(id)
    if (seen.size > sizeBefore) empty = 0
    yield { rows: segment.rows, cursor, isLast: segment.cursor === undefined, foreign: segment.foreign }
    if (segment.cursor === undefined) return
    cursor = segment.cursor
  }
  throw new ListChangedError('the list does not end')
}

/** Where the needed rows begin: after a position, or at an offset counted from the front. */
export type ScanTarget = { readonly after: Position | undefined } | { readonly offset: number }

/**
 * Reads at least `need` rows from the target on by cursor, for positions beyond the depth of page mode.
 *
 * It starts at the nearest anchor, or at the front, and adds new anchors. Throws ListChangedError when rows are out of
 * order.
 *
 * @param exactOffset whether the `offset` of the result must be right: then only anchors of the current fingerprint are
 * used
 */
export const scanRange = async <Row extends Position>(
  source: Source<Row>,
  order: Order,
  target: ScanTarget,
  need: number,
  anchors: Anchor[],
  exactOffset: boolean,
  { total, text: fingerprint }: Fingerprint,
): Promise<RowRange<Row>> => {
  const anchor = nearest(anchors, order, target, exactOffset ? fingerprint : undefined)
  const isExact = !anchor || anchor.fingerprint === fingerprint
  /** Number of rows before `rows`. */
  let offset = anchor?.offset ?? 0
  /** Rows that may still be needed: those of the target, and those whose key may have further rows. */
  let rows: Row[] = []
  let last: Position | undefined = anchor?.last
  try {
    for await (const segment of segmentsOf(source, anchor?.cursor)) {
      const { cursor, isLast, foreign } = segment
      if (foreign) throw new ListChangedError('the total counts rows that the request did not ask for')
      const [first] = segment.rows
      if (first && last && order.keys(last.key, first.key) > 0)
        throw new ListChangedError('rows are not in the requested order')
      if (cursor !== undefined && first && last && last.key !== first.key) {
        const anchor = {
          cursor: copyText(cursor),
          last: positionOf(latest(rows, order) ?? last),
          offset: offset + rows.length,
          fingerprint: isExact ? fingerprint : '',
        }
        addMark(anchors, anchor, (other) => other.cursor === anchor.cursor || other.offset === anchor.offset)
      }
      rows.push(...segment.rows)
      last = segment.rows.at(-1) ?? last
      const lastKey = isLast ? undefined : last?.key
      /** Rows before this index have keys that are present with all their rows. */
      const complete = lastKey === undefined ? rows.length : rows.findIndex((row) => row.key === lastKey)
      const unneeded = countUnneeded(rows, complete, order, target, offset)
      if (isLast || complete - unneeded >= need) {
        const found = rows.slice(0, complete).sort(order.rows).slice(unneeded)
        return { rows: found, complete: isLast, offset: offset + unneeded, total }
      }
      // Drops unneeded rows, but only whole keys: the exact order within a key needs all its rows.
      const dropped = keyStart(rows, Math.min(unneeded, complete))
      offset += dropped
      rows = rows.slice(dropped)
    }
  } catch (error) {
    // The next attempt must not use a stale cursor again.
    if (error instanceof ListChangedError) anchors.length = 0
    throw error
  }
  throw new ListChangedError('the list ended without a last segment')
}

const nearest = (anchors: readonly Anchor[], order: Order, target: ScanTarget, fingerprint: string | undefined) =>
  anchors
    .filter((anchor) => {
      if ('offset' in target) return anchor.fingerprint === fingerprint && anchor.offset <= target.offset
      if (fingerprint !== undefined && anchor.fingerprint !== fingerprint) return false
      return target.after !== undefined && order.rows(anchor.last, target.after) <= 0
    })
    .reduce<Anchor | undefined>(
      (best, anchor) => (best && order.rows(best.last, anchor.last) >= 0 ? best : anchor),
      undefined,
    )

/** How many of the first `complete` rows, in exact order, come before the target. */
const countUnneeded = (
  rows: readonly Position[],
  complete: number,
  order: Order,
  target: ScanTarget,
  offset: number,
): number => {
  if ('offset' in target) return Math.min(complete, Math.max(0, target.offset - offset))
  const { after } = target
  return after ? rows.slice(0, complete).filter((row) => order.rows(row, after) <= 0).length : 0
}

/** The last index up to `index` at which a key begins. */
const keyStart = (rows: readonly Position[], index: number): number => {
  let start = index
  while (start > 0 && rows[start - 1]?.key === rows[start]?.key) start--
  return start
}

/** The last row in exact order: one of those with the last key. */
const latest = (rows: readonly Position[], order: Order): Position | undefined => {
  const key = rows.at(-1)?.key
  const [last] = rows.filter((row) => row.key === key).sort((a, b) => order.rows(b, a))
  return last && { key: last.key, id: last.id }
}
