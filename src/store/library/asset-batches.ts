import type { AssetBatchRecords } from '../../../plugins/admin/asset-batches.ts'
import type {
  AssetBatch,
  AssetBatchItem,
  AssetBatchStore,
  CountedAssetBatch,
} from '../../../plugins/asset-library/index.ts'
import type { Database, Row, Steps } from '../database/database.ts'
import { UniqueViolationError } from '../database/error.ts'
import { deleteOldest } from '../database/oldest-rows.ts'
import { clause, fragment, type Statement, sql } from '../database/statement.ts'
import { lockUser } from '../database/user-locks.ts'
import { addEvent } from '../events/events.ts'
import { assetBatchPages, countItems, countsOf } from './asset-batch-pages.ts'
import { assetBatchRetries, countOpen, lockBatch, mayOpen } from './asset-batch-retries.ts'

const selectBatches = fragment`
  select id, user_id as "user", token_id as token, group_id as "group", group_type as "groupType",
    created_at as "createdAt", retried_at as "retriedAt", cancelled_at as "cancelledAt", ended_at as "endedAt"
  from asset_batches`

const selectItems = fragment`
  select batch_id as batch, position, state, attempts, claimed_at as "claimedAt", lease_until as "leaseUntil",
    asset_id as asset, name, error, body
  from asset_batch_items`

const batchOf = (row: Row): AssetBatch => row as unknown as AssetBatch
const itemOf = (row: Row): AssetBatchItem => row as unknown as AssetBatchItem

const withCounts = (batch: Row, counts: readonly Row[]): CountedAssetBatch => ({
  ...batchOf(batch),
  counts: countsOf(counts),
})

/** Batches of assets, and their items. */
export const createAssetBatchStore = (database: Database): AssetBatchStore & AssetBatchRecords => ({
  ...assetBatchRetries(database),
  ...assetBatchPages(database),

  async addAssetBatch({ id, user, token, group, groupType, createdAt }, items, maxOpen) {
    return database.transaction(function* (): Steps<boolean> {
      yield lockUser(user)
      if (!(yield* mayOpen(user, maxOpen))) return false
      yield sql`
        insert into asset_batches (id, user_id, token_id, group_id, group_type, created_at, due_at)
        values (${id}, ${user}, ${token}, ${group}, ${groupType}, ${createdAt}, ${createdAt})`
      yield items.map(
        ({ name, body }, index) => sql`
          insert into asset_batch_items (batch_id, position, state, attempts, name, body)
          values (${id}, ${index + 1}, 'waiting', 0, ${name}, ${body})`,
      )
      return true
    })
  },

  async countOpenAssetBatches(user) {
    const [open] = await database.query(countOpen(user))
    return Number(open?.count)
  },

  async assetBatch(user, id) {
    const [[batch], counts = []] = (await database.batch([
      sql`
        ${selectBatches}
        where id = ${id}
        and user_id = ${user}`,
      countItems(id),
    ])) as [Row[], Row[]]
    return batch && withCounts(batch, counts)
  },

  async assetBatches(user, { after, limit }) {
    const batches = await database.query(sql`
      ${selectBatches}
      where user_id = ${user}
      and (cast(${after} as text) is null or id < ${after})
      order by id desc
      limit ${limit}`)
    if (batches.length === 0) return []
    const counts = await database.batch(batches.map(({ id }) => countItems(String(id))))
    return batches.map((batch, index) => withCounts(batch, counts[index] ?? []))
  },

  async assetBatchItems(batch, { after, limit, state }) {
    const rows =
      state === undefined
        ? await database.query(sql`
            ${selectItems}
            where batch_id = ${batch}
            and position > ${after}
            order by position
            limit ${limit}`)
        : await database.query(sql`
            ${selectItems}
            where batch_id = ${batch}
            and state = ${state}
            and position > ${after}
            order by position
            limit ${limit}`)
    return rows.map(itemOf)
  },

  async cancelAssetBatch(user, id, at) {
    await database.transaction(function* (): Steps {
      const [cancelled] = yield sql`
        update asset_batches
        set cancelled_at = ${at}, due_at = ${at}
        where id = ${id}
        and user_id = ${user}
        and ended_at is null
        and cancelled_at is null
        returning id`
      if (cancelled)
        yield sql`
          update asset_batch_items
          set state = 'cancelled'
          where batch_id = ${id}
          and state = 'waiting'`
    })
  },

  async dueAssetBatches(now, max) {
    const due = await database.query(sql`
      ${selectBatches}
      where due_at <= ${now}
      order by due_at, id
      limit ${max}`)
    return due.map(batchOf)
  },

  async postponeAssetBatch(id, dueAt) {
    await database.query(sql`
      update asset_batches
      set due_at = ${dueAt}
      where id = ${id}
      and ended_at is null`)
  },

  async nextAssetBatchItem(batch, now) {
    const [lost, waiting] = await database.batch([
      sql`
        ${selectItems}
        where batch_id = ${batch}
        and state = 'sending'
        and lease_until <= ${now}
        order by position
        limit 1`,
      sql`
        ${selectItems}
        where batch_id = ${batch}
        and state = 'waiting'
        order by position
        limit 1`,
    ])
    const [next] = [...(lost ?? []), ...(waiting ?? [])]
    return next && itemOf(next)
  },

  async claimAssetBatchItem({ batch, position }, now, leaseUntil) {
    return database.transaction(function* (): Steps<AssetBatchItem | undefined> {
      const [claimed] = yield sql`
        update asset_batch_items
        set state = 'sending', attempts = attempts + 1, claimed_at = ${now}, lease_until = ${leaseUntil}
        where batch_id = ${batch}
        and position = ${position}
        and state = 'waiting'
        returning position`
      if (!claimed) return undefined
      const [item = {}] = yield sql`
        ${selectItems}
        where batch_id = ${batch}
        and position = ${position}`
      return itemOf(item)
    })
  },

  async settleAssetBatchItem({ batch, position, attempts }, outcome) {
    const { state } = outcome
    try {
      const settled = await database.query(sql`
        update asset_batch_items
        set lease_until = null, asset_id = ${'asset' in outcome ? outcome.asset : undefined},
          error = ${'error' in outcome ? outcome.error : undefined},
          state = case
            when cast(${state} as text) = 'waiting' and exists (
              select 1
              from asset_batches
              where id = ${batch}
              and cancelled_at is not null
            ) then 'cancelled'
            else cast(${state} as text)
          end
        where batch_id = ${batch}
        and position = ${position}
        and attempts = ${attempts}
        and state in ('waiting', 'sending')
        returning position`)
      return settled.length === 1
    } catch (error) {
      if (error instanceof UniqueViolationError) return false
      throw error
    }
  },

  async endAssetBatch(id, at, describe) {
    return database.transaction(function* (): Steps<'ended' | 'open' | number> {
      // Items that are tried again come before the end or after it.
      yield lockBatch(id)
      const [open] = yield sql`
        select min(lease_until) as until, count(*) as count
        from asset_batch_items
        where batch_id = ${id}
        and state in ('waiting', 'sending')`
      if (open?.until !== undefined) return Number(open.until)
      if (Number(open?.count) > 0) return 'open'
      const [ended] = yield sql`
        update asset_batches
        set ended_at = ${at}, due_at = null
        where id = ${id}
        and ended_at is null
        returning id`
      if (!ended || !describe) return 'ended'
      const [batch = {}] = yield sql`
        ${selectBatches}
        where id = ${id}`
      const counts = yield countItems(id)
      const counted = withCounts(batch, counts)
      const { type, data, at: told } = describe(counted)
      yield* addEvent({ user: counted.user, type, data, at: told })
      return 'ended'
    })
  },

  async sweepAssetBatches(endedBefore, max) {
    const swept = await database.query(deleteEndedBatches(endedBefore, max))
    return swept.length
  },
})

export const deleteEndedBatches = (endedBefore: number, max: number): Statement =>
  deleteOldest(
    {
      ...{ table: clause`asset_batches`, time: clause`ended_at`, key: clause`id` },
      where: clause`ended_at < ${endedBefore}`,
    },
    max,
  )
