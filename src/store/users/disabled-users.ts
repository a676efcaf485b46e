import { fragment } from '../database/database.ts'

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
export const isOfDisabledUser = fragment`exists (
    select 1
    from ${disabledUsers}
    where disabled_users.id = user_id
  )`
