import { fragment, type Statement, sql } from '../database/statement.ts'

/** A table with the ids of all users of the store, and of the host app, who are disabled. */
export const disabledUsers = fragment`(
    select id
    from users
    where disabled_at is not null
    union all
    select id
    from disabled_host_users
  ) as disabled_users`

/** Whether the row's `user_id` is one of them. */
const isOfDisabledUser = fragment`exists (
    select 1
    from ${disabledUsers}
    where disabled_users.id = user_id
  )`

/**
 * Ends what would go on for a user without a request, if the user is disabled by now: batches are cancelled, and video
 * tasks that wait expire. Those tasks leave the line at once, so that none gets a slot before its end is recorded.
 *
 * They are the queued ones that are in no other phase: for the phase `waiting`, PostgreSQL would read the lines of all
 * users.
 */
export const endWorkOf = (user: string, at: number): readonly Statement[] => [
  sql`
    update asset_batches
    set cancelled_at = ${at}, due_at = ${at}
    where user_id = ${user}
    and ended_at is null
    and cancelled_at is null
    and ${isOfDisabledUser}`,
  sql`
    update asset_batch_items
    set state = 'cancelled'
    where state = 'waiting'
    and batch_id in (
      select id
      from asset_batches
      where user_id = ${user}
      and ended_at is null
      and ${isOfDisabledUser}
    )`,
  sql`
    update video_tasks
    set expires_at = ${at}, pool = null, due_at = null
    where user_id = ${user}
    and status = 'queued'
    and phase not in ('submitting', 'submitted')
    and ${isOfDisabledUser}`,
]
