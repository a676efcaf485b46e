import type { SlottedAssetStore } from '../../../../plugins/asset-library/index.ts'
import type { Database } from '../../database/database.ts'
import { clause, sql, valueList } from '../../database/statement.ts'
import { heldSlots, sumOf } from './held-slots.ts'
import { countWaiting } from './slot-use.ts'
import { forgetWait } from './slot-waits.ts'
import { lockSlots, slottedColumns, slottedFrom } from './slotted-rows.ts'

type AssetUseStore = Pick<
  SlottedAssetStore,
  'beginAssetUse' | 'renewAssetUses' | 'endAssetUse' | 'sweepAssetUses' | 'countSlots'
>

/** Which assets requests use. Those of video tasks are in `video_asset_uses`. */
export const createAssetUseStore = (database: Database): AssetUseStore => ({
  beginAssetUse: ({ id, user, assets, now, waitUntil, leaseUntil }) =>
    database.transaction(function* () {
      // No asset loses its slot between the look at it and the record of its use.
      yield lockSlots
      const rows = yield clause`select ${slottedColumns} from slotted_assets where id in (${valueList(assets)})`
      const found = rows.map(slottedFrom)
      const isHeld =
        found.length === assets.length &&
        found.every(({ state, isReady, removedAt }) => state === 'present' && isReady && removedAt === undefined)
      yield assets.map(
        (asset) => sql`
          insert into asset_uses (id, asset_id, user_id, waiting, lease_until)
          values (${id}, ${asset}, ${user}, ${isHeld ? 0 : 1}, ${isHeld ? leaseUntil : waitUntil})
          on conflict (id, asset_id) do update
          set waiting = excluded.waiting, lease_until = excluded.lease_until`,
      )
      if (isHeld) {
        yield assets.toSorted().map(
          (asset) => sql`
            update slotted_assets
            set used_at = ${now}
            where id = ${asset}
            and used_at < ${now}`,
        )
        yield forgetWait(id)
      }
      return { assets: found, isHeld }
    }),

  async renewAssetUses(ids, leaseUntil) {
    if (ids.length === 0) return
    await database.batch(
      ids.toSorted().map(
        (id) => sql`
          update asset_uses
          set lease_until = ${leaseUntil}
          where id = ${id}`,
      ),
    )
  },

  async endAssetUse(id) {
    await database.batch([
      // A claim that goes on in the meantime records no wait of what has ended.
      lockSlots,
      sql`
        delete from asset_uses
        where id = ${id}`,
      forgetWait(id),
    ])
  },

  async sweepAssetUses(now) {
    await database.batch([
      sql`
        delete from asset_uses
        where lease_until <= ${now}`,
      sql`
        delete from slot_waits
        where lease_until <= ${now}`,
    ])
  },

  countSlots: (account, now) =>
    database.transaction(function* () {
      const { all } = yield* heldSlots(account, now)
      const [waiting] = yield countWaiting(account, now)
      return { used: sumOf(all), waiting: Number(waiting?.count ?? 0) }
    }),
})
