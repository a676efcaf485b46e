import type { AssetBatchStore } from '../../../plugins/asset-library/index.ts'
import type { Database, Steps } from '../database/database.ts'
import { type Statement, sql } from '../database/statement.ts'
import { lockUser } from '../database/user-locks.ts'
import { disabledUsers } from '../users/disabled-users.ts'

/** Locks a batch until the end of the transaction. */
export const lockBatch = (id: string): Statement => sql`
  update asset_batches
  set id = id
  where id = ${id}`

/** Counts the batches of a user that have not ended. */
export const countOpen = (user: string): Statement => sql`
  select count(*) as count
  from asset_batches
  where user_id = ${user}
  and ended_at is null`

/** Whether a user may have one more batch that has not ended. The user must be locked. */
export function* mayOpen(user: string, maxOpen: number): Steps<boolean> {
  const [open] = yield countOpen(user)
  if (Number(open?.count) >= maxOpen) return false
  // The request may be older than the disabling of its user, which has cancelled the batches that there were.
  const disabled = yield sql`
    select id
    from ${disabledUsers}
    where disabled_users.id = ${user}`
  return disabled.length === 0
}

/** Failed items that are tried again. */
export const assetBatchRetries = (database: Database): Pick<AssetBatchStore, 'retryAssetBatchItems'> => ({
  async retryAssetBatchItems(user, id, { position, at, maxOpen }) {
    return database.transaction(function* () {
      yield lockUser(user)
      yield lockBatch(id)
      const [batch] = yield sql`
        select cancelled_at as "cancelledAt", ended_at as "endedAt"
        from asset_batches
        where id = ${id}
        and user_id = ${user}`
      if (!batch) return 'none'
      if (batch.cancelledAt !== undefined) return 'cancelled'
      if (batch.endedAt !== undefined && !(yield* mayOpen(user, maxOpen))) return 'full'
      const retried = yield sql`
        update asset_batch_items
        set state = 'waiting', error = null
        where batch_id = ${id}
        and state = 'failed'
        and position = coalesce(cast(${position} as bigint), position)
        returning position`
      if (retried.length === 0) return 'none'
      yield sql`
        update asset_batches
        set ended_at = null, due_at = ${at}, retried_at = ${at}
        where id = ${id}`
      return 'retried'
    })
  },
})
