import type { Position } from './order.ts'
import { longestRun, type RangeTarget, type Reading, type RowRange, RunTooLongError } from './range.ts'
import type { Order, Side, Source } from './source.ts'
import type { WalkCache } from './walk-cache.ts'

/** A page of so many rows gets two calls before it counts as long; a larger one, or the first of a list, three. */
const smallPage = 30

/** Less than the half of a page, which any call can bring behind a given row. */
const maxMargin = 40

const forwards = { backwards: false } as const

/** Reads portions of one list's sources by page mode. */
export const createPageReader = <Row extends Position>(order: Order, list: string, trails: WalkCache) => {
  const trail = trails.of(list)

  const reading = (source: Source<Row>, side: Side = forwards, additions = Number.POSITIVE_INFINITY): Reading<Row> => ({
    ...{ source, order, side, additions, margin: Math.min(maxMargin, trail.longestRun - 1) },
  })

  /**
   * What is aimed at, by page mode. Where equal keys make that long, it is read once for several pages, and kept: as long as the list does not change, each of
   * them costs a look at its fingerprint.
   */
  const near = async (
    source: Source<Row>,
    aim: RangeTarget,
    need: number,
    readFor: (source: Reading<Row>, need: number) => Promise<RowRange<Row> | undefined>,
  ): Promise<RowRange<Row> | undefined> => {
    const key = `${list}\n${source.id}`
    const kept = trails.kept<Row>(key)
    const known = kept && aim.isIn(kept.portion) ? aim.of(kept.portion) : undefined
    if (kept && known && (known.complete || known.rows.length >= need)) {
      if ((await source.fingerprint()).text === kept.fingerprint) return known
      trails.forget(key)
    }
    try {
      const additions = need <= smallPage && trail.longestRun > 1 ? 1 : 2
      const portion = await readFor(reading(source, forwards, additions), need)
      if (portion) trail.longestRun = Math.max(longestRun(portion), trail.longestRun - 1, 1)
      return portion && aim.of(portion)
    } catch (error) {
      if (!(error instanceof RunTooLongError)) throw error
    }
    const readAt = performance.now()
    const { text: fingerprint, total } = await source.fingerprint()
    const portion = await readFor(reading(source), need + Math.max(source.maxPageSize, 4 * need))
    trail.longestRun = maxMargin
    if (portion?.total === total) trails.keep(key, { portion, fingerprint, readAt })
    return portion && aim.of(portion)
  }

  return { reading, near }
}
