import type { Settings } from '../options.ts'
import type { Asset } from './records.ts'

/** The assets in processing, and their results. */
export interface Processing {
  start(id: string, now: number): void
  /** ids whose processing time is over; returns each id once */
  due(now: number): string[]
  /** the asset after processing; UpdateTime is the end of processing */
  ended(asset: Asset): Asset
}

export const createProcessing = ({ processingMs, outcome }: Settings): Processing => {
  const ends = new Map<string, number>()
  const endedAt = new Map<string, number>()
  // earliest end; avoids a scan of all ids on every read
  let next = Number.POSITIVE_INFINITY

  return {
    start(id, now) {
      ends.set(id, now + processingMs)
      next = Math.min(next, now + processingMs)
    },
    due(now) {
      if (now < next) return []
      const finished = [...ends].filter(([, end]) => end <= now)
      for (const [id, end] of finished) {
        ends.delete(id)
        endedAt.set(id, end)
      }
      next = [...ends.values()].reduce((earliest, end) => Math.min(earliest, end), Number.POSITIVE_INFINITY)
      return finished.map(([id]) => id)
    },
    ended(asset) {
      const result = outcome(asset)
      const updateTime = Math.max(asset.updateTime, endedAt.get(asset.id) ?? 0)
      endedAt.delete(asset.id)
      if (result.status === 'Active') return { ...asset, status: 'Active', updateTime }
      return { ...asset, status: 'Failed', error: { code: result.code, message: result.message }, updateTime }
    },
  }
}
