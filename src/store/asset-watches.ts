import type { AssetProgress, AssetWatch, AssetWatchStore } from '../routes/asset-watch.ts'
import { type Database, type Statement, type Steps, sql } from './database.ts'
import { addEvent } from './events.ts'

const tell = (user: string, { status, data, at }: AssetProgress): readonly Statement[] =>
  addEvent({ user, type: `asset.${status}`, data, at })

const endWatch = (asset: string): Statement => sql`
  delete from asset_watches
  where asset_id = ${asset}
  returning user_id as "user"`

/** Assets that the upstream processes, and the events of all assets. */
export const createAssetWatchStore = (database: Database): AssetWatchStore => ({
  watchAsset: ({ asset, group, user, createdAt }, dueAt, change) =>
    database.transaction(function* (): Steps {
      const added = yield sql`
        insert into asset_watches (asset_id, group_id, user_id, created_at, due_at, polls)
        values (${asset}, ${group}, ${user}, ${createdAt}, ${dueAt}, 0)
        on conflict (asset_id) do nothing
        returning asset_id`
      if (added.length === 1) yield* tell(user, change)
    }),

  async dueAssetWatches(now, max) {
    return database.query<AssetWatch>(sql`
      select asset_id as asset, group_id as "group", user_id as "user", created_at as "createdAt", polls
      from asset_watches
      where due_at <= ${now}
      order by due_at, asset_id
      limit ${max}`)
  },

  async postponeAssetWatches(due) {
    if (due.length === 0) return
    await database.batch(
      due
        .toSorted((a, b) => (a.asset < b.asset ? -1 : 1))
        .map(
          ({ asset, dueAt }) => sql`
            update asset_watches
            set due_at = ${dueAt}, polls = polls + 1
            where asset_id = ${asset}`,
        ),
    )
  },

  endAssetWatch: (asset, change) =>
    database.transaction(function* (): Steps {
      const [ended] = yield endWatch(asset)
      if (ended && change) yield* tell(String(ended.user), change)
    }),

  assetDeleted: (asset, user, change) =>
    database.transaction(function* (): Steps {
      yield endWatch(asset)
      yield* tell(user, change)
    }),
})
