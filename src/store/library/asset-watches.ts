import { setImmediate } from 'node:timers'
import type { AssetProgress, AssetWatch, AssetWatchStore } from '../../../plugins/asset-library/index.ts'
import type { Database, Steps } from '../database/database.ts'
import { isOfOneRow } from '../database/error.ts'
import { type Statement, sql } from '../database/statement.ts'
import { addEvent } from '../events/events.ts'

const tell = (user: string, { type, data, at }: AssetProgress): readonly Statement[] =>
  addEvent({ user, type, data, at })

const endWatch = (asset: string): Statement => sql`
  delete from asset_watches
  where asset_id = ${asset}
  returning user_id as "user"`

type WatchParameters = Parameters<AssetWatchStore['watchAsset']>

function* addWatch([{ asset, group, user, createdAt, dueAt }, change]: WatchParameters): Steps {
  const added = yield sql`
    insert into asset_watches (asset_id, group_id, user_id, created_at, due_at, polls)
    values (${asset}, ${group}, ${user}, ${createdAt}, ${dueAt}, 0)
    on conflict (asset_id) do nothing
    returning asset_id`
  if (added.length === 1) yield* tell(user, change)
}

/**
 * Adds watches. All of one event-loop turn share a transaction, because its commit to disk is what costs, and a
 * creation waits for it. They are not sorted: each asset is new, so no two transactions add the same. One that the
 * database does not accept fails alone.
 */
const watchTogether = (database: Database): AssetWatchStore['watchAsset'] => {
  interface Waiting {
    readonly watch: WatchParameters
    readonly resolve: () => void
    readonly reject: (error: unknown) => void
  }
  let waiting: Waiting[] = []
  const addAll = async (all: readonly Waiting[]): Promise<void> => {
    try {
      await database.transaction(function* (): Steps {
        for (const { watch } of all) yield* addWatch(watch)
      })
      for (const { resolve } of all) resolve()
    } catch (error) {
      if (all.length > 1 && isOfOneRow(error)) {
        const middle = Math.ceil(all.length / 2)
        await addAll(all.slice(0, middle))
        return addAll(all.slice(middle))
      }
      for (const { reject } of all) reject(error)
    }
  }
  const addWaiting = () => {
    const all = waiting
    waiting = []
    void addAll(all)
  }
  return (...watch) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ watch, resolve, reject }) === 1) setImmediate(addWaiting)
    })
}

/** Assets that the upstream processes, and the events of all assets. */
export const createAssetWatchStore = (database: Database): AssetWatchStore => ({
  watchAsset: watchTogether(database),

  async dueAssetWatches(now, max) {
    return database.query<AssetWatch>(sql`
      select asset_id as asset, group_id as "group", user_id as "user", created_at as "createdAt", due_at as "dueAt",
        polls
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
