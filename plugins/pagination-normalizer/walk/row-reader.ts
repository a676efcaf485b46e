import type { Position } from '../order.ts'
import type { Order, ReadDirection, Source } from '../source.ts'
import {
  maxTies,
  type RangeTarget,
  type ReadOptions,
  type RowRange,
  readRange,
  readRangeAt,
  rowsAfter,
  rowsFrom,
  type Start,
  TooManyTiesError,
} from './range.ts'
import { scanRange } from './scan.ts'
import type { Walk, WalkCache } from './walk-cache.ts'

/** Up to this size, a page that is not the first of its walk gets at most two calls; other pages get three. */
const smallPage = 30

/**
 * Maximum margin on each side of the wanted rows: less than half of a page of 100, so that one call can always return
 * it.
 */
export const maxMargin = 40

const forwards = { backwards: false } as const

/**
 * Creates functions that read rows of one list's sources: in page mode within its depth from either end, otherwise by
 * cursor.
 *
 * @param walk of that list
 */
export const createRowReader = <Row extends Position>(order: Order, list: string, walk: Walk, walkCache: WalkCache) => {
  const readOptions = (
    source: Source<Row>,
    direction: ReadDirection = forwards,
    maxExtensions = Number.POSITIVE_INFINITY,
  ): ReadOptions<Row> => ({
    ...{ source, order, direction, maxExtensions, margin: Math.min(maxMargin, walk.expectedTies - 1) },
  })

  const expectTiesOf = (rows: readonly Row[]): void => {
    walk.expectedTies = Math.max(maxTies(rows), walk.expectedTies - 1, 1)
  }

  /**
   * Reads a range in page mode. If too many rows have equal keys, it reads a larger range once and caches it for the
   * next pages: as long as the list does not change, each of them then costs one call, for the fingerprint.
   */
  const readByPage = async (
    source: Source<Row>,
    target: RangeTarget,
    need: number,
    readFor: (options: ReadOptions<Row>, need: number) => Promise<RowRange<Row> | undefined>,
  ): Promise<RowRange<Row> | undefined> => {
    const key = `${list}\n${source.id}`
    const cached = walkCache.cachedRange<Row>(key)
    const hit = cached && target.startsIn(cached.range) ? target.trim(cached.range) : undefined
    if (cached && hit && (hit.complete || hit.rows.length >= need)) {
      if ((await source.fingerprint()).text === cached.fingerprint) return hit
      walkCache.deleteRange(key)
    }
    try {
      const maxExtensions = need <= smallPage && walk.expectedTies > 1 ? 1 : 2
      const range = await readFor(readOptions(source, forwards, maxExtensions), need)
      if (range) expectTiesOf(range.rows)
      return range && target.trim(range)
    } catch (error) {
      if (!(error instanceof TooManyTiesError)) throw error
    }
    const readAt = performance.now()
    const { text: fingerprint, total } = await source.fingerprint()
    const range = await readFor(readOptions(source), need + Math.max(source.maxPageSize, 4 * need))
    walk.expectedTies = maxMargin
    if (range?.total === total) walkCache.cacheRange(key, { range, fingerprint, readAt })
    return range && target.trim(range)
  }

  const anchorsOf = (source: Source<Row>) => {
    const anchors = walk.anchors.get(source.id) ?? []
    walk.anchors.set(source.id, anchors)
    return anchors
  }

  /**
   * Moves an anchor forward while a walk is in the second half of the depth of page mode. The anchor advances twice as
   * fast as the walk, so that the walk can continue beyond that depth by cursor without a scan from the front.
   */
  const advanceAnchor = async (source: Source<Row>, { offset: walked, total }: RowRange<Row>): Promise<void> => {
    const { maxPageDepth, maxPageSize } = source
    if (walked < maxPageDepth / 2 || total <= 2 * maxPageDepth) return
    const anchors = anchorsOf(source)
    const farthest = anchors.reduce(
      (max, { offset, fingerprint }) => (fingerprint === '' && offset > max ? offset : max),
      0,
    )
    const offset = Math.min(2 * walked - maxPageDepth, maxPageDepth)
    if (offset - farthest >= maxPageSize)
      await scanRange(source, order, { offset }, 1, anchors, true, { total, text: '' })
  }

  return {
    /** As many rows as these have equal keys are expected on the next pages, too. */
    expectTiesOf,

    /** Reads the rows of a source after a start. */
    async after(source: Source<Row>, start: Start, need: number, exactOffset: boolean): Promise<RowRange<Row>> {
      const { after } = start
      const target = rowsAfter(order, after)
      const found = await readByPage(source, target, need, (options, many) => readRange(options, start, many))
      if (found && after) await advanceAnchor(source, found)
      if (found) return found
      const current = await source.fingerprint()
      const fromEnd = await readRange(readOptions(source, { backwards: true, total: current.total }), start, need)
      if (fromEnd) return target.trim(fromEnd)
      return scanRange(source, order, { after }, need, anchorsOf(source), exactOffset, current)
    },

    /** Reads the rows of a source from an offset on. */
    async at(source: Source<Row>, offset: number, need: number): Promise<RowRange<Row>> {
      const target = rowsFrom(offset)
      const found = await readByPage(source, target, need, (options, many) => readRangeAt(options, offset, many))
      if (found) return found
      const current = await source.fingerprint()
      if (offset >= current.total) return { rows: [], complete: true, offset: current.total, total: current.total }
      const fromEnd = await readRangeAt(readOptions(source, { backwards: true, total: current.total }), offset, need)
      if (fromEnd) return target.trim(fromEnd)
      return scanRange(source, order, { offset }, need, anchorsOf(source), true, current)
    },
  }
}
