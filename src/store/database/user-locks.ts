import { type Statement, sql } from './statement.ts'

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

/** Like `lockUser`, for a user of the store. Locks nothing when there is none of that id. */
export const lockKnownUser = (user: string): Statement => sql`
  insert into user_turns (user_id, turn)
  select id, 1
  from users
  where id = ${user}
  on conflict (user_id) do update
  set turn = user_turns.turn + 1`

/** No user has this id: users have a text of one character or more. */
const admins = ''

/**
 * Locks the set of all admins until the end of the batch. It must come before the lock of a user. Batches that count
 * the admins and then remove one need it.
 */
export const lockAdmins = lockUser(admins)
