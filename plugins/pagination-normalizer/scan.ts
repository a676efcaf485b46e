import { copyText } from '../shared/text.ts'
import { type Position, positionOf } from './order.ts'
import type { RowRange } from './range.ts'
import { type Fingerprint, ListChangedError, type Order, type Source } from './source.ts'
import { type Anchor, remember } from './walk-cache.ts'

/** Everything in a source, in exact order, by cursor. Each row once, in its latest form. Throws Unsteady for a list without an end. */
export const scanAll = async <Row extends Position>(source: Source<Row>, order: Order): Promise<readonly Row[]> => {
  const rows = new Map<string, Row>()
  for await (const stretch of stretches(source, undefined)) {
    for (const row of stretch.rows) rows.set(row.id, row)
  }
  return [...rows.values()].sort(order.rows)
}

/** Most stretches in a row without a row that is new, as an upstream gives that filters after it has paged. */
const maxBarren = 100

/** A source from a cursor on, each stretch with the cursor that led to it. Throws Unsteady for one that turns in a circle. */
async function* stretches<Row extends Position>(source: Source<Row>, from: string | undefined) {
  const seen = new Set<string>()
  let cursor = from
  for (let barren = 0; barren <= maxBarren; barren++) {
    const stretch = await source.walk(cursor, source.maxPageSize)
    const known = seen.size
    for (const { id } of stretch.rows) seen.add(id)
    if (seen.size > known) barren = 0
    yield { rows: stretch.rows, cursor, isLast: stretch.cursor === undefined, foreign: stretch.foreign }
    if (stretch.cursor === undefined) return
    cursor = stretch.cursor
  }
  throw new ListChangedError('a list that never ends')
}

/** Where a sweep is to begin: behind a row, or at a place counted from the front. */
export type ScanTarget = { readonly after: Position | undefined } | { readonly place: number }

/**
 * At least `need` rows from the aim on, where page mode does not reach: by cursor from the nearest anchor, or from the front. New anchors are left on the way.
 * Throws Unsteady when rows are out of order.
 *
 * @param counted whether `skipped` has to be right: then only anchors will do that are as old as the source's last change
 */
export const scanRange = async <Row extends Position>(
  source: Source<Row>,
  order: Order,
  aim: ScanTarget,
  need: number,
  anchors: Anchor[],
  counted: boolean,
  { total, text: fingerprint }: Fingerprint,
): Promise<RowRange<Row>> => {
  const anchor = nearest(anchors, order, aim, counted ? fingerprint : undefined)
  const isCounted = !anchor || anchor.fingerprint === fingerprint
  /** Rows before `rows`. */
  let place = anchor?.place ?? 0
  /** Rows not known to be of no use: from the first whose key is the last one's, or that were aimed at. */
  let rows: Row[] = []
  let last: Position | undefined = anchor?.last
  try {
    for await (const stretch of stretches(source, anchor?.cursor)) {
      const { cursor, isLast, foreign } = stretch
      if (foreign) throw new ListChangedError('a list whose total counts what was not asked for')
      const [first] = stretch.rows
      if (first && last && order.keys(last.key, first.key) > 0)
        throw new ListChangedError('rows are not in the order asked for')
      if (cursor !== undefined && first && last && last.key !== first.key) {
        const anchor = {
          cursor: copyText(cursor),
          last: positionOf(latest(rows, order) ?? last),
          place: place + rows.length,
          fingerprint: isCounted ? fingerprint : '',
        }
        remember(anchors, anchor, (other) => other.cursor === anchor.cursor || other.place === anchor.place)
      }
      rows.push(...stretch.rows)
      last = stretch.rows.at(-1) ?? last
      const lastKey = isLast ? undefined : last?.key
      const settled = lastKey === undefined ? rows.length : rows.findIndex((row) => row.key === lastKey)
      const useless = countUseless(rows, settled, order, aim, place)
      if (isLast || settled - useless >= need) {
        const found = rows.slice(0, settled).sort(order.rows).slice(useless)
        return { rows: found, complete: isLast, skipped: place + useless, total }
      }
      // The useless ones may go once their keys are all there.
      const gone = keyStart(rows, Math.min(useless, settled))
      place += gone
      rows = rows.slice(gone)
    }
  } catch (error) {
    // A stale cursor must not be tried again.
    if (error instanceof ListChangedError) anchors.length = 0
    throw error
  }
  throw new ListChangedError('a list that ends without an end')
}

const nearest = (anchors: readonly Anchor[], order: Order, aim: ScanTarget, fingerprint: string | undefined) =>
  anchors
    .filter((anchor) => {
      if ('place' in aim) return anchor.fingerprint === fingerprint && anchor.place <= aim.place
      if (fingerprint !== undefined && anchor.fingerprint !== fingerprint) return false
      return aim.after !== undefined && order.rows(anchor.last, aim.after) <= 0
    })
    .reduce<Anchor | undefined>(
      (best, anchor) => (best && order.rows(best.last, anchor.last) >= 0 ? best : anchor),
      undefined,
    )

/** How many of the settled rows, in exact order, come before the aim. */
const countUseless = (
  rows: readonly Position[],
  settled: number,
  order: Order,
  aim: ScanTarget,
  place: number,
): number => {
  if ('place' in aim) return Math.min(settled, Math.max(0, aim.place - place))
  const { after } = aim
  return after ? rows.slice(0, settled).filter((row) => order.rows(row, after) <= 0).length : 0
}

/** The index nearest before `index` at which a key begins. */
const keyStart = (rows: readonly Position[], index: number): number => {
  let start = index
  while (start > 0 && rows[start - 1]?.key === rows[start]?.key) start--
  return start
}

/** The last of the rows in exact order, which is among those of the last key. */
const latest = (rows: readonly Position[], order: Order): Position | undefined => {
  const key = rows.at(-1)?.key
  const [last] = rows.filter((row) => row.key === key).sort((a, b) => order.rows(b, a))
  return last && { key: last.key, id: last.id }
}
