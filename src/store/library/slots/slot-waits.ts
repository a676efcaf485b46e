import type { SlotNeed } from '../../../../plugins/asset-library/index.ts'
import { type Statement, type Steps, sql } from '../../database/database.ts'

/** Records that there was no slot for it, unless it has ended meanwhile. */
export const noteWait = ({ id, user, waitUntil }: SlotNeed): Statement =>
  user === undefined
    ? sql`
      insert into slot_waits (id, user_id, lease_until)
      select id, user_id, cast(${waitUntil} as bigint)
      from video_tasks
      where id = ${id}
      on conflict (id) do update
      set lease_until = excluded.lease_until`
    : sql`
      insert into slot_waits (id, user_id, lease_until)
      select distinct id, user_id, cast(${waitUntil} as bigint)
      from asset_uses
      where id = ${id}
      on conflict (id) do update
      set lease_until = excluded.lease_until`

export const forgetWait = (id: string): Statement => sql`
  delete from slot_waits
  where id = ${id}`

/**
 * Whether the next slot is for something else that waits: for who has fewer slots in use, and of those with as many for
 * who has waited longer. Video tasks wait for nobody: those that are here have waited in a fair queue already.
 */
export function* isTurnOfAnother({ id, user }: SlotNeed, now: number): Steps<boolean> {
  if (user === undefined) return false
  const others = yield sql`
    select id, user_id as "user"
    from slot_waits
    where lease_until > ${now}
    and id <> ${id}`
  if (others.length === 0) return false
  const counted = yield sql`
    select user_id as "user", count(distinct asset_id) as slots
    from (
      select user_id, asset_id
      from asset_uses
      where waiting = 0
      and lease_until > ${now}
      union all
      select video_asset_uses.user_id, asset_id
      from slotted_assets
      join video_asset_uses on video_asset_uses.asset_id = slotted_assets.id
      join video_tasks on video_tasks.id = video_asset_uses.task_id
      where slotted_assets.state = 'present'
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
