import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { AdminAssetBatch, AssetBatchFilter, AssetBatchRecords } from '../asset-batches.ts'
import type { OperationTools } from '../operation-tools.ts'
import type { PageOf, PageRequest } from '../store.ts'
import { type AdminActor, readBy } from './actor.ts'

/** Operations on batches of assets of any user. They throw Problem. */
export interface AssetBatchOperations {
  list(actor: AdminActor, filter: AssetBatchFilter, page: PageRequest): Promise<PageOf<AdminAssetBatch>>
  /** Cancels the items that wait. What has been created stays. */
  cancel(actor: AdminActor, id: string): Promise<AdminAssetBatch>
}

export const createAssetBatchOperations = (
  store: Partial<AssetBatchRecords>,
  { clock }: Pick<OperationTools, 'clock'>,
): AssetBatchOperations => {
  const records = hasBatches(store) ? store : undefined

  const find = async (
    id: string,
  ): Promise<{ readonly batch: AdminAssetBatch; readonly records: AssetBatchRecords }> => {
    const batch = records && (await storeCall(records.assetBatchOf(id), unavailable))
    if (!batch) throw new Problem(404, 'there is no such batch')
    return { batch, records }
  }

  return {
    list: async (actor, filter, page) =>
      readBy(
        actor,
        'asset_batches',
        records ? storeCall(records.assetBatchPage(filter, page), unavailable) : Promise.resolve({ items: [] }),
        filter.user,
      ),

    async cancel(actor, id) {
      const { batch, records } = await find(id)
      if (batch.cancelledAt !== undefined) return batch
      const { user } = batch
      await storeCall(records.cancelAssetBatch(user, id, clock.now()), unavailable)
      // It may have ended meanwhile.
      const { batch: cancelled } = await find(id)
      if (cancelled.cancelledAt === undefined) throw new Problem(409, 'the batch has ended')
      await actor.record({ action: 'asset_batch.cancel', target: { kind: 'asset_batch', id } }, user)
      return cancelled
    },
  }
}

const hasBatches = (store: Partial<AssetBatchRecords>): store is AssetBatchRecords =>
  store.assetBatchPage !== undefined && store.assetBatchOf !== undefined && store.cancelAssetBatch !== undefined

/** The message when the store fails. */
const unavailable = 'batches of assets could not be read or changed'
