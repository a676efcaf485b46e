import { type Statement, sql } from './database.ts'

/**
 * Belongs, as the first one, into a batch that counts what a user has before it adds to it: of several such batches, in any process, one is at work at a time
 * for a user, so that no two of them count the same.
 */
export const lockUser = (user: string): Statement => sql`
  insert into user_turns (user_id, turn)
  values (${user}, 1)
  on conflict (user_id) do update
  set turn = user_turns.turn + 1`

/** The same for the user of that name, where there is one. */
export const lockUserByName = (name: string): Statement => sql`
  insert into user_turns (user_id, turn)
  select id, 1
  from users
  where name = ${name}
  on conflict (user_id) do update
  set turn = user_turns.turn + 1`
