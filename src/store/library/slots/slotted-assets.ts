import type { AdoptedAsset, SlottedAssetStore } from '../../../../plugins/asset-library/index.ts'
import type { Database } from '../../database/database.ts'
import { clause, type Statement, sql, valueList } from '../../database/statement.ts'
import { createAssetUseStore } from './asset-uses.ts'
import { createPersonSlotStore } from './person-slots.ts'
import { type AssetSlotRecords, assetSlotUse } from './slot-use.ts'
import { createSlotStore } from './slots.ts'
import { listStatements } from './slotted-lists.ts'
import { forgetSlotted, keepForever, lockSlots, slottedColumns, slottedFrom } from './slotted-rows.ts'

/** The assets of a library that is larger than its slots. */
export const createSlottedAssetStore = (
  database: Database,
): Omit<SlottedAssetStore, 'takeLease' | 'releaseLease'> & AssetSlotRecords => ({
  ...assetSlotUse(database),
  ...createSlotStore(database),
  ...createPersonSlotStore(database),
  ...createAssetUseStore(database),

  async slottedAssets(ids) {
    if (ids.length === 0) return []
    const found = await database.query<Parameters<typeof slottedFrom>[0]>(
      clause`select ${slottedColumns} from slotted_assets where id in (${valueList(ids)})`,
    )
    return found.map(slottedFrom)
  },

  async isHiddenId(id, { key }) {
    const hidden = await database.query(sql`
      select id
      from slotted_assets
      where upstream_id = ${id}
      and account = ${key}
      and id <> ${id}`)
    return hidden.length > 0
  },

  async listSlottedAssets(list) {
    const [rows = [], counted = []] = await database.batch(listStatements(list))
    return { assets: rows.map(slottedFrom), total: Number(counted[0]?.total ?? 0) }
  },

  async addSlottedAsset({ id, user, group, account, name, createdAt, body, original }) {
    const [added = []] = await database.batch([
      sql`
      insert into slotted_assets (id, user_id, group_id, account, state, attempts, lease_until, status, ready, name,
        created_at, updated_at, used_at, due_at, original, body, item)
      values (${id}, ${user}, ${group}, ${account}, 'absent', 0, 0, 'Processing', 0, ${name}, ${createdAt},
        ${createdAt}, ${createdAt}, ${createdAt}, ${original}, ${body}, '{}')
      on conflict (id) do nothing
      returning id`,
      ...(original === undefined ? [] : [keepForever(original)]),
    ])
    return added.length === 1
  },

  async unadoptedGroups(groups) {
    if (groups.length === 0) return []
    const adopted = await database.query<{ id: string }>(
      clause`select group_id as id from slotted_groups where group_id in (${valueList(groups)})`,
    )
    const known = new Set(adopted.map(({ id }) => id))
    return groups.filter((group) => !known.has(group))
  },

  async adoptAssets({ id: group, user, account }, assets) {
    await database.transaction(function* () {
      const adopted = yield sql`
        insert into slotted_groups (group_id, turn)
        values (${group}, 1)
        on conflict (group_id) do nothing
        returning group_id`
      // Another process has done it, and may have created assets since then.
      if (adopted.length === 0) return
      for (const asset of assets) {
        const { id } = asset
        const added = yield insertAdopted(id, asset, { group, user, account })
        if (added.length === 1) continue
        const elsewhere = yield sql`
          select id
          from slotted_assets
          where id = ${id}
          and account <> ${account}`
        if (elsewhere.length === 1) yield insertAdopted(asset.otherId, asset, { group, user, account })
      }
    })
  },

  async noteUpstreamItem({ id, upstreamId }, { status, isReady, item, at, dueAt }) {
    await database.query(sql`
      update slotted_assets
      set updated_at = case when status = ${status} then updated_at else cast(${at} as bigint) end,
        status = ${status}, ready = ${isReady ? 1 : 0}, item = ${item}, due_at = ${dueAt}
      where id = ${id}
      and state = 'present'
      and upstream_id = ${upstreamId}
      and removed_at is null`)
  },

  removeSlottedAsset: (id, now) =>
    database.transaction(function* () {
      yield lockSlots
      const [removed] = yield sql`
        update slotted_assets
        set removed_at = ${now}, due_at = ${now}
        where id = ${id}
        and removed_at is null
        returning state, original`
      if (removed?.state === 'absent') yield* forgetSlotted(id, removed.original, now)
      return removed !== undefined
    }),

  async failSlottedAsset(id, item, now) {
    await database.query(sql`
      update slotted_assets
      set status = 'Failed', item = ${item}, updated_at = ${now}, due_at = null
      where id = ${id}
      and state = 'absent'
      and status = 'Processing'`)
  },

  async renameSlottedAsset(id, name, now) {
    await database.query(sql`
      update slotted_assets
      set name = ${name}, updated_at = ${now}
      where id = ${id}
      and removed_at is null`)
  },

  async keepOriginal(id, key) {
    return database.transaction(function* () {
      const kept = yield sql`
        update slotted_assets
        set original = ${key}
        where id = ${id}
        and original is null
        and removed_at is null
        returning id`
      if (kept.length === 1) yield keepForever(key)
      return kept.length === 1
    })
  },

  async touchSlottedAssets(ids, now) {
    if (ids.length === 0) return
    await database.batch(
      ids.toSorted().map(
        (id) => sql`
          update slotted_assets
          set used_at = ${now}
          where id = ${id}
          and used_at < ${now}`,
      ),
    )
  },

  async dueSlottedAssets({ key }, now, max) {
    const due = await database.query<Parameters<typeof slottedFrom>[0]>(sql`
      select ${slottedColumns}
      from slotted_assets
      where account = ${key}
      and due_at <= ${now}
      order by due_at, id
      limit ${max}`)
    return due.map(slottedFrom)
  },

  async postponeSlottedAsset(id, dueAt) {
    await database.query(sql`
      update slotted_assets
      set due_at = ${dueAt}
      where id = ${id}`)
  },
})

/** Adds an asset that the upstream has, under an id of the gateway. Nothing when an asset has that id. */
const insertAdopted = (
  ownId: string,
  { id, name, status, createdAt, updatedAt, body, item }: AdoptedAsset,
  { group, user, account }: { readonly group: string; readonly user: string; readonly account: string },
): Statement => sql`
  insert into slotted_assets (id, user_id, group_id, account, state, upstream_id, attempts, lease_until, status, ready,
    name, created_at, updated_at, used_at, due_at, body, item)
  values (${ownId}, ${user}, ${group}, ${account}, 'present', ${id}, 0, 0, ${status}, ${status === 'Active' ? 1 : 0},
    ${name}, ${createdAt}, ${updatedAt}, ${createdAt}, ${createdAt}, ${body}, ${item})
  on conflict (id) do nothing
  returning id`
