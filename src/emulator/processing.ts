import type { Asset } from './records.ts'
import type { Settings } from './settings.ts'

/** Which assets are being processed, and how that ends. */
export interface Processing {
  begin(id: string, now: number): void
  /** the ids whose time is over, each once */
  due(now: number): string[]
  /** the asset after processing, its UpdateTime the moment at which that ended */
  ended(asset: Asset): Asset
}

export function createProcessing({ processingMs, outcome }: Settings): Processing {
  const ends = new Map<string, number>()
  const endedAt = new Map<string, number>()
  // spares a scan of all that is processed at every read
  let next = Number.POSITIVE_INFINITY

  return {
    begin(id, now) {
      ends.set(id, now + processingMs)
      next = Math.min(next, now + processingMs)
    },
    due(now) {
      if (now < next) return []
      const over = [...ends].filter(([, end]) => end <= now)
      for (const [id, end] of over) {
        ends.delete(id)
        endedAt.set(id, end)
      }
      next = [...ends.values()].reduce((least, end) => Math.min(least, end), Number.POSITIVE_INFINITY)
      return over.map(([id]) => id)
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
