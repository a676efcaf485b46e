import type { LeaseStore } from '../../shared/background/lease-store.ts'

/** An asset that the upstream still processes. Times are milliseconds since 1970. */
export interface AssetWatch {
  readonly asset: string
  readonly group: string
  /** Who has created it. */
  readonly user: string
  readonly createdAt: number
  /** When it is polled next. */
  readonly dueAt: number
  /** Polls that found it still processing. */
  readonly polls: number
}

/** The types of the events of assets and batches of them. */
export type AssetEventType = `asset.${'processing' | 'active' | 'failed' | 'deleted'}` | 'asset_batch.ended'

/** What has become of an asset, or a batch. */
export interface AssetProgress {
  readonly type: AssetEventType
  /** The fields of the asset or the batch that the event contains, as a JSON object. */
  readonly data: string
  readonly at: number
}

/** Store port: assets in progress, and the events of all assets. Each change and its event are one transaction. */
export interface AssetWatchStore {
  /** Adds a watch, and the event that the asset is being processed; nothing when there is one already. */
  watchAsset(watch: Omit<AssetWatch, 'polls'>, change: AssetProgress): Promise<void>
  /** The watches that are due longest. */
  dueAssetWatches(now: number, max: number): Promise<readonly AssetWatch[]>
  /** Sets when each is due again, and counts a poll. */
  postponeAssetWatches(due: readonly { readonly asset: string; readonly dueAt: number }[]): Promise<void>
  /** Ends a watch, with the event if there is a change. Nothing when it has ended already. */
  endAssetWatch(asset: string, change?: AssetProgress): Promise<void>
  /** Adds the event that a user has deleted an asset, and ends its watch. */
  assetDeleted(asset: string, user: string, change: AssetProgress): Promise<void>
}

/** Where the asset library records events. */
export type AssetEvents = AssetWatchStore & LeaseStore
