import type { PageOf, PageRequest } from './store.ts'

/** A batch of assets, as operators see it. Times are milliseconds since 1970. */
export interface AdminAssetBatch {
  readonly id: string
  /** Id of the user. */
  readonly user: string
  /** Undefined: a user of a host app. */
  readonly userName?: string
  /** Id of the token. Undefined: there was none. */
  readonly token?: string
  readonly group: string
  readonly groupType: string
  readonly createdAt: number
  readonly cancelledAt?: number
  readonly endedAt?: number
  /** When the gateway works on it again. Undefined: it has ended. */
  readonly dueAt?: number
  /** Number of its items in each state that there is. */
  readonly counts: Readonly<Partial<Record<AssetBatchCount, number>>>
}

/** The states of items of a batch. */
export const assetBatchCounts = ['waiting', 'sending', 'created', 'failed', 'unknown', 'cancelled'] as const
export type AssetBatchCount = (typeof assetBatchCounts)[number]

/** Which batches to list. Undefined members do not filter. */
export interface AssetBatchFilter {
  /** Id of a user. */
  readonly user?: string | undefined
  /** `running`: those that have not ended. */
  readonly state?: 'running' | undefined
}

/** The store port of operators for batches of assets. */
export interface AssetBatchRecords {
  /** Lists batches, the newest first. A page costs the same wherever it begins. */
  assetBatchPage(filter: AssetBatchFilter, page: PageRequest): Promise<PageOf<AdminAssetBatch>>
  assetBatchOf(id: string): Promise<AdminAssetBatch | undefined>
  /** Cancels the waiting items of a batch of the user that has not ended, and makes it due. */
  cancelAssetBatch(user: string, id: string, at: number): Promise<void>
}
