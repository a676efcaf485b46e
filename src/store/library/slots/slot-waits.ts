import type { SlotAccount, SlotNeed } from '../../../../plugins/asset-library/index.ts'
import type { Steps } from '../../database/database.ts'
import { type Statement, sql } from '../../database/statement.ts'

/** Records that there was no slot of an account for it, unless it has ended meanwhile. */
export const noteWait = ({ id, user, waitUntil }: SlotNeed, { key }: SlotAccount): Statement =>
  user === undefined
    ? sql`
      insert into slot_waits (id, user_id, account, lease_until)
      select id, user_id, cast(${key} as text), cast(${waitUntil} as bigint)
      from video_tasks
      where id = ${id}
      on conflict (id) do update
      set lease_until = excluded.lease_until`
    : sql`
      insert into slot_waits (id, user_id, account, lease_until)
      select distinct id, user_id, cast(${key} as text), cast(${waitUntil} as bigint)
      from asset_uses
      where id = ${id}
      on conflict (id) do update
      set lease_until = excluded.lease_until`

export const forgetWait = (id: string): Statement => sql`
  delete from slot_waits
  where id = ${id}`

/**
 * Whether the next slot of an account is for something else that waits: for who has fewer slots in use, and of those
 * with as many for who has waited longer. Video tasks wait for nobody: those that are here have waited in a fair queue
 * already.
 */
export function* isTurnOfAnother({ id, user }: SlotNeed, { key }: SlotAccount, now: number): Steps<boolean> {
  if (user === undefined) return false
  const others = yield sql`
    select id, user_id as "user"
    from slot_waits
    where lease_until > ${now}
    and account = ${key}
    and id <> ${id}`
  if (others.length === 0) return false
  const counted = yield sql`
    select user_id as "user", count(distinct asset_id) as slots
    from (
      select asset_uses.user_id, asset_id
      from asset_uses
      join slotted_assets on slotted_assets.id = asset_uses.asset_id
      where waiting = 0
      and asset_uses.lease_until > ${now}
      and slotted_assets.account = ${key}
      union all
      select video_asset_uses.user_id, asset_id
      from slotted_assets
      join video_asset_uses on video_asset_uses.asset_id = slotted_assets.id
      join video_tasks on video_tasks.id = video_asset_uses.task_id
      where slotted_assets.state = 'present'
      and slotted_assets.account = ${key}
      and video_tasks.phase in ('submitting', 'submitted')
    ) counted
    group by user_id`
  const inUse = new Map(counted.map((row) => [String(row.user), Number(row.slots)]))
  const own = inUse.get(user) ?? 0
  return others.some((other) => {
    const theirs = inUse.get(String(other.user)) ?? 0
    return theirs < own || (theirs === own && String(other.id) < id)
  })
}
