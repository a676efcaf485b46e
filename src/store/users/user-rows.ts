import { nameKey } from '../../../plugins/shared/identity/name-key.ts'
import { type Statement, sql } from '../database/database.ts'

/** Deletes all sessions of a user, by id. Part of the batches that disable a user, or replace the password. */
export const endSessionsOf = (user: string): Statement => sql`
  delete from sessions
  where user_id = ${user}`

/** Deletes the invitation of a user, by id. */
export const endInvitationOf = (user: string): Statement => sql`
  delete from invitations
  where user_id = ${user}`

/** Longest part of a name that the search by a part of the name knows. Code points. */
const maxSearched = 256

/** Adds the parts of a user's name, for the search by a part of the name. */
export const addNameParts = (user: string): Statement => sql`
  with recursive numbers (number) as (
    select 1
    union all
    select number + 1
    from numbers
    where number < ${maxSearched - 2}
  )
  insert into user_name_parts (part, user_id)
  select distinct substr(users.name_key, numbers.number, 3), users.id
  from users
  join numbers on numbers.number <= length(users.name_key) - 2
  where users.id = ${user}`

/** Whether another user than `except` has a name. One row if so. */
export const nameTakenBy = (name: string, except = ''): Statement => sql`
  select id
  from users
  where (name = ${name} or name_key = ${nameKey(name)})
  and id <> ${except}
  limit 1`
