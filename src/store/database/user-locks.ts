import { type Statement, sql } from './database.ts'

/**
 * Locks a user until the end of the batch. It must be the batch's first statement.
 *
 * Batches that count the rows of a user and then add one need it: without the lock, two of them at once would exceed a
 * maximum.
 */
export const lockUser = (user: string): Statement => sql`
  insert into user_turns (user_id, turn)
  values (${user}, 1)
  on conflict (user_id) do update
  set turn = user_turns.turn + 1`

/** Like `lockUser`, for the user with that name. Locks nothing when there is none. */
export const lockUserByName = (name: string): Statement => sql`
  insert into user_turns (user_id, turn)
  select id, 1
  from users
  where name = ${name}
  on conflict (user_id) do update
  set turn = user_turns.turn + 1`
