import { fragment, type Statement, sql } from '../database/database.ts'

const ofDisabledUser = fragment`
  exists (
    select 1
    from users
    where users.id = asset_batches.user_id
    and disabled_at is not null
    union all
    select 1
    from disabled_host_users
    where disabled_host_users.id = asset_batches.user_id
  )`

/** Cancels the batches of a user, if the user is disabled by now. */
export const cancelBatchesOf = (user: string, at: number): readonly Statement[] => [
  sql`
    update asset_batches
    set cancelled_at = ${at}, due_at = ${at}
    where user_id = ${user}
    and ended_at is null
    and cancelled_at is null
    and ${ofDisabledUser}`,
  sql`
    update asset_batch_items
    set state = 'cancelled'
    where state = 'waiting'
    and batch_id in (
      select id
      from asset_batches
      where user_id = ${user}
      and ended_at is null
      and ${ofDisabledUser}
    )`,
]
