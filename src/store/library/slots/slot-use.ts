import type { SlotAccount } from '../../../../plugins/asset-library/index.ts'
import type { Database } from '../../database/database.ts'
import { clause, type Statement, sql, valueList } from '../../database/statement.ts'
import { heldSlots, sumOf } from './held-slots.ts'

/** The slots of the assets of one account. Times are milliseconds since 1970. */
export interface AssetSlotUse {
  /** Slots that are taken, also those of assets of persons. */
  readonly used: number
  /** Slots of assets of persons: nobody can take them away. */
  readonly persons: number
  /** Other slots that nobody can take now: a video task or a request uses the asset. */
  readonly pinned: number
  /** Video tasks and requests for which there was no slot. */
  readonly waiting: number
  /** How many slots there are, as `noteSlotLimit` has it. Undefined: it was not called. */
  readonly limit?: number
  /** When an asset last lost its slot to another one. Undefined: none has. */
  readonly lastEvictedAt?: number
  /** The users with the most slots, at most 20. */
  readonly users: readonly {
    /** Id of the user. */
    readonly user: string
    /** Undefined: a user of a host app. */
    readonly userName?: string
    readonly used: number
    readonly persons: number
  }[]
}

/** The slots of assets, for operators. */
export interface AssetSlotRecords {
  assetSlotUse(account: SlotAccount, now: number): Promise<AssetSlotUse>
}

const maxUsers = 20

export const assetSlotUse = (database: Database): AssetSlotRecords => ({
  async assetSlotUse(account, now) {
    const { held, ...counted } = await database.transaction(function* () {
      const held = yield* heldSlots(account, now)
      const [pinned] = yield countPinned(account, now)
      const [waiting] = yield countWaiting(account, now)
      const [evicted] = yield sql`
        select evicted_at as at
        from slot_evictions
        where account = ${account.key}`
      const [limit] = yield sql`
        select slots
        from slot_limits
        where account = ${account.key}`
      return {
        held,
        pinned: Number(pinned?.count ?? 0),
        waiting: Number(waiting?.count ?? 0),
        ...(limit && { limit: Number(limit.slots) }),
        ...(evicted && { lastEvictedAt: Number(evicted.at) }),
      }
    })
    const most = [...held.all].toSorted(([, a], [, b]) => b - a).slice(0, maxUsers)
    const names = await namesOf(
      database,
      most.map(([user]) => user),
    )
    return {
      ...{ used: sumOf(held.all), persons: sumOf(held.persons), ...counted },
      users: most.map(([user, used]) => {
        const userName = names.get(user)
        return { user, ...(userName !== undefined && { userName }), used, persons: held.persons.get(user) ?? 0 }
      }),
    }
  },
})

/** Counts the assets that `chooseVictim` does not choose because something uses them. */
const countPinned = ({ key }: SlotAccount, now: number): Statement => sql`
  select count(*) as count
  from slotted_assets
  where state = 'present'
  and account = ${key}
  and (
    exists (
      select 1
      from video_asset_uses
      join video_tasks on video_tasks.id = video_asset_uses.task_id
      where video_asset_uses.asset_id = slotted_assets.id
      and video_tasks.phase in ('submitting', 'submitted')
    )
    or exists (
      select 1
      from asset_uses
      where asset_uses.asset_id = slotted_assets.id
      and waiting = 0
      and asset_uses.lease_until > ${now}
    )
  )`

/** Counts the video tasks and requests for which there was no slot. */
export const countWaiting = ({ key }: SlotAccount, now: number): Statement => sql`
  select count(*) as count
  from slot_waits
  where lease_until > ${now}
  and account = ${key}`

const namesOf = async (database: Database, ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  if (ids.length === 0) return new Map()
  const rows = await database.query<{ id: string; name: string }>(
    clause`select id, name from users where id in (${valueList(ids)})`,
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}
