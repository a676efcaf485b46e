import type { AdminAssetBatch, AssetBatchRecords } from '../../../plugins/admin/asset-batches.ts'
import type { Database, Row } from '../database/database.ts'
import { clause, type Statement, sql } from '../database/statement.ts'

const selectBatches = clause`
  select asset_batches.id, user_id as "user", users.name as "userName", token_id as token, group_id as "group",
    group_type as "groupType", asset_batches.created_at as "createdAt", cancelled_at as "cancelledAt",
    ended_at as "endedAt", due_at as "dueAt"
  from asset_batches
  left join users on users.id = user_id`

/** Counts the items of a batch in each state, for `countsOf`. */
export const countItems = (id: string): Statement => sql`
  select state, count(*) as count
  from asset_batch_items
  where batch_id = ${id}
  group by state`

/** The numbers of items by their state, from the rows of `countItems`. */
export const countsOf = (rows: readonly Row[]): AdminAssetBatch['counts'] =>
  Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]))

/** The batches of all users, for operators. */
export const assetBatchPages = (database: Database): Pick<AssetBatchRecords, 'assetBatchPage' | 'assetBatchOf'> => {
  const read = async (statement: Statement): Promise<readonly AdminAssetBatch[]> => {
    const batches = await database.query(statement)
    if (batches.length === 0) return []
    const counts = await database.batch(batches.map(({ id }) => countItems(String(id))))
    return batches.map((batch, index) => batchFrom(batch, counts[index] ?? []))
  }

  return {
    async assetBatchPage({ user, state }, { limit, after }) {
      const found = await read(
        clause`
          ${selectBatches}
          where ${after === undefined ? clause`true` : clause`asset_batches.id < ${after.id}`}
          ${user === undefined ? [] : clause`and user_id = ${user}`}
          ${state === undefined ? [] : clause`and ended_at is null`}
          order by asset_batches.id desc
          limit ${limit + 1}`,
      )
      const items = found.slice(0, limit)
      const last = items.at(-1)?.id
      return found.length > limit && last !== undefined ? { items, next: { key: last, id: last } } : { items }
    },

    async assetBatchOf(id) {
      const [batch] = await read(clause`${selectBatches} where asset_batches.id = ${id}`)
      return batch
    },
  }
}

const batchFrom = (batch: Row, counts: readonly Row[]): AdminAssetBatch => ({
  ...(batch as unknown as AdminAssetBatch),
  counts: countsOf(counts),
})
