import { nameKey } from '../../../plugins/shared/identity/name-key.ts'
import { clause, fragment, type Statement, sql, valueList, withCommas } from '../database/statement.ts'

/** Deletes all sessions of a user, by id. Part of the batches that disable a user, or replace the password. */
export const endSessionsOf = (user: string): Statement => sql`
  delete from sessions
  where user_id = ${user}`

/** Deletes the invitation of a user, by id. */
export const endInvitationOf = (user: string): Statement => sql`
  delete from invitations
  where user_id = ${user}`

/** The search by a part of the name knows the first 256 code points: 254 parts of three. */
const withNumbers = fragment`
  with recursive numbers (number) as (
    select 1
    union all
    select number + 1
    from numbers
    where number < 254
  )`

/** Adds the parts of a user's name, for the search by a part of the name. */
export const addNameParts = (user: string): Statement => sql`
  ${withNumbers}
  insert into user_name_parts (part, user_id)
  select distinct substr(users.name_key, numbers.number, 3), users.id
  from users
  join numbers on numbers.number <= length(users.name_key) - 2
  where users.id = ${user}`

/** Adds the parts of the names of users who are not added yet: at least one. */
// A statement that begins with `with` would count as one that reads.
export const addPartsOf = (users: readonly { readonly id: string; readonly name: string }[]): Statement => clause`
  insert into user_name_parts (part, user_id)
  ${withNumbers},
  added (user_id, name_key) as (
    values ${withCommas(users.map(({ id, name }) => clause`(${id}, ${nameKey(name)})`))}
  )
  select distinct substr(added.name_key, numbers.number, 3), added.user_id
  from added
  join numbers on numbers.number <= length(added.name_key) - 2`

/** Deletes the parts of the names of users: at least one. */
export const deletePartsOf = (ids: readonly string[]): Statement =>
  clause`delete from user_name_parts where user_id in (${valueList(ids)})`

/** Whether another user than `except` has a name. One row if so. */
export const nameTakenBy = (name: string, except = ''): Statement => sql`
  select id
  from users
  where (name = ${name} or name_key = ${nameKey(name)})
  and id <> ${except}
  limit 1`
