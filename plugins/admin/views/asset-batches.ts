import { type AdminAssetBatch, type AssetBatchCount, assetBatchCounts } from '../asset-batches.ts'
import { isoOrNull, isoTime } from './time.ts'

/** A batch of assets. */
export interface AdminAssetBatchView {
  readonly id: string
  readonly user: string
  readonly user_name: string | null
  readonly token: string | null
  readonly group: string
  readonly group_type: string
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly ended_at: string | null
  /** When the gateway works on it again. Null: it has ended. */
  readonly due_at: string | null
  /** Number of its items in each state. */
  readonly counts: Readonly<Record<AssetBatchCount, number>>
}

export const toAdminAssetBatchView = (batch: AdminAssetBatch): AdminAssetBatchView => ({
  id: batch.id,
  user: batch.user,
  user_name: batch.userName ?? null,
  token: batch.token ?? null,
  group: batch.group,
  group_type: batch.groupType,
  created_at: isoTime(batch.createdAt),
  cancelled_at: isoOrNull(batch.cancelledAt),
  ended_at: isoOrNull(batch.endedAt),
  due_at: isoOrNull(batch.dueAt),
  counts: Object.fromEntries(assetBatchCounts.map((state) => [state, batch.counts[state] ?? 0])) as Record<
    AssetBatchCount,
    number
  >,
})
