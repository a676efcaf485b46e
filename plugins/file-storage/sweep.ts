import type { Background } from '../shared/background/background.ts'
import { inLanes } from '../shared/background/in-lanes.ts'
import type { Clock } from '../shared/clock.ts'
import { hasNoSpace } from '../shared/no-space.ts'
import type { Log } from '../shared/problem.ts'
import type { Storage } from './storage/storage.ts'
import type { FileStore } from './store.ts'

export interface FileSweepOptions {
  readonly storage: Storage
  readonly store: Pick<FileStore, 'claimExpiredFiles' | 'expiredFiles' | 'removeFileRecords'>
  readonly clock: Clock
  readonly log: Log
}

const sweepEveryMs = 60_000
/** A file that could not be removed is tried again then. */
const retryMs = 600_000
const removeUnfinishedEveryMs = 3_600_000
/** Longer than any call of `put` takes. */
const unfinishedMs = 86_400_000
const filesPerClaim = 100
const maxWithoutClaim = 1_000
/** Files that are removed at once, so that one for which the storage does not respond does not delay all others. */
const lanes = 4

/** Removes expired files, at once and every minute; and once an hour what interrupted calls of `put` have left. */
export const sweepFiles = (options: FileSweepOptions, background: Background): void => {
  const { storage, clock, log } = options
  let unfinishedRemovedAt = 0
  background.repeat({
    ...{ everyMs: sweepEveryMs, log, failure: 'unfinished files could not be removed' },
    async run(signal) {
      await removeExpiredFiles(options, signal).catch((err: unknown) =>
        log.warn({ err }, 'expired files could not be removed'),
      )
      if (clock.now() < unfinishedRemovedAt + removeUnfinishedEveryMs || signal.aborted) return sweepEveryMs
      unfinishedRemovedAt = clock.now()
      await storage.removeUnfinished(clock.now() - unfinishedMs)
      return sweepEveryMs
    },
  })
}

/**
 * Removes all expired files and their records. Resolves with their number. A file that cannot be removed is logged, and
 * tried again later.
 */
export const removeExpiredFiles = async (
  { storage, store, clock, log }: FileSweepOptions,
  signal?: AbortSignal,
): Promise<number> => {
  const removeFiles = async (keys: readonly string[]): Promise<string[]> => {
    const gone: string[] = []
    await inLanes(keys, lanes, async (key) => {
      try {
        await storage.remove(key)
        gone.push(key)
      } catch (err) {
        log.warn({ err, key }, 'a file could not be removed')
      }
    })
    return gone
  }
  const claim = (now: number) => store.claimExpiredFiles(now, now + retryMs, filesPerClaim)
  let removed = 0
  while (!signal?.aborted) {
    const now = clock.now()
    const keys = await claim(now).catch(async (error: unknown) => {
      if (!store.expiredFiles || !hasNoSpace(error)) throw error
      // The files may be on the disk of the database. Their records stay until there is room.
      await removeFiles(await store.expiredFiles(now, maxWithoutClaim))
      return claim(now)
    })
    const gone = await removeFiles(keys)
    if (gone.length > 0) await store.removeFileRecords(gone)
    removed += gone.length
    if (keys.length < filesPerClaim) break
  }
  return removed
}
