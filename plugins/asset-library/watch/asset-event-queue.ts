import type { Clock } from '../../shared/clock.ts'
import { hasNoSpace } from '../../shared/no-space.ts'
import type { Log } from '../../shared/problem.ts'
import type { AssetWatchStore } from './asset-events.ts'

/** What the routes record of assets. */
export type AssetNews = Pick<AssetWatchStore, 'watchAsset' | 'assetDeleted'>

const retryMs = 1_000
/** Bound of the queue while the database has no room. Further events are lost, and logged. */
const maxWaiting = 10_000

/**
 * Keeps events in memory while the database has no room, and records them, in order, as soon as it has: the asset is
 * created or deleted already, and its user is told so. A kill loses them.
 */
export const keepWhileFull = (
  events: AssetNews,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): AssetNews => {
  const waiting: (() => Promise<void>)[] = []

  const recordAll = async (): Promise<void> => {
    for (let record = waiting[0]; record; record = waiting[0]) {
      try {
        await record()
      } catch (err) {
        if (hasNoSpace(err)) return tryAgain()
        log.warn({ err }, 'an event of an asset could not be recorded')
      }
      waiting.shift()
    }
  }
  const tryAgain = (): void => {
    clock.at(clock.now() + retryMs, () => void recordAll())
  }

  const recordOrKeep = async (record: () => Promise<void>): Promise<void> => {
    // Behind those that wait: an asset is not deleted before it was created.
    if (waiting.length === 0) {
      try {
        return await record()
      } catch (error) {
        if (!hasNoSpace(error)) throw error
      }
    }
    if (waiting.length >= maxWaiting) throw new Error('too many events of assets wait for room in the database')
    if (waiting.push(record) > 1) return
    log.error({}, 'events of assets wait until the database has room')
    tryAgain()
  }

  return {
    watchAsset: (...watch) => recordOrKeep(() => events.watchAsset(...watch)),
    assetDeleted: (...deletion) => recordOrKeep(() => events.assetDeleted(...deletion)),
  }
}
