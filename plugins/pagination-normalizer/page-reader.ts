import type { Position } from './order.ts'
import type { Order, ReadDirection, Source } from './source.ts'
import { maxTies, type RangeTarget, type ReadOptions, type RowRange, TooManyTiesError } from './walk/range.ts'
import type { WalkCache } from './walk/walk-cache.ts'

/** Up to this size, a page that is not the first of its walk gets at most two calls; other pages get three. */
const smallPage = 30

/**
 * Maximum margin on each side of the wanted rows: less than half of a page of 100, so that one call can always return
 * it.
 */
const maxMargin = 40

const forwards = { backwards: false } as const

/** Creates functions that read ranges of one list's sources in page mode. */
export const createPageReader = <Row extends Position>(order: Order, list: string, walkCache: WalkCache) => {
  const walk = walkCache.walkOf(list)

  const readOptions = (
    source: Source<Row>,
    direction: ReadDirection = forwards,
    maxExtensions = Number.POSITIVE_INFINITY,
  ): ReadOptions<Row> => ({
    ...{ source, order, direction, maxExtensions, margin: Math.min(maxMargin, walk.expectedTies - 1) },
  })

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
      if (range) walk.expectedTies = Math.max(maxTies(range), walk.expectedTies - 1, 1)
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

  return { readOptions, readByPage }
}
