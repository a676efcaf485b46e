import type { AdminUser, PagePlace, UserFilter } from '../../../plugins/admin/store.ts'
import { clause, fragment, type Statement, sql } from '../database/statement.ts'
import { timeOf } from './page.ts'

/** A user as `listUsers` reads one. */
export interface UserRow extends Omit<AdminUser, 'service'> {
  readonly service: 0 | 1
  readonly nameKey?: string
}

/**
 * The index in whose order users are examined.
 *
 * - `part`: those with a part of three characters in the name, by id
 * - `names`: all, by the form of the name by which names are compared
 * - `team`, `admins`, `disabled`, `all`: by age
 */
export type UserOrder = 'part' | 'names' | 'team' | 'admins' | 'disabled' | 'all'

/** The users after a place, in the order of an index. */
export interface UserRange {
  readonly order: UserOrder
  readonly part: string | undefined
  readonly after: PagePlace | undefined
}

/** What the users of an order by age have in common; nothing in that of all users. */
const inOrder = (order: UserOrder, team: string | undefined): Statement => {
  if (order === 'team') return clause`users.team_id = ${team} and `
  if (order === 'admins') return clause`users.role = 'admin' and `
  return order === 'disabled' ? clause`users.disabled_at is not null and ` : clause``
}

/** The place of the `count`th user of a range, with the columns `key` and `id`. No row: there are fewer. */
export const placeAt = ({ order, part, after }: UserRange, { team }: UserFilter, count: number): Statement => {
  const [at, name, id, skipped] = [timeOf(after), nameOf(after), after?.id ?? '', count - 1]
  if (order === 'part') {
    return sql`
      select '' as key, user_id as id
      from user_name_parts
      where part = ${part}
      and user_id > ${id}
      order by user_id
      limit 1
      offset ${skipped}`
  }
  if (order === 'names') {
    return sql`
      select name_key as key, id
      from users
      where (name_key, id) > (${name}, ${id})
      order by name_key, id
      limit 1
      offset ${skipped}`
  }
  return clause`
    select created_at as key, id
    from users
    where ${inOrder(order, team)} (created_at, id) > (${at}, ${id})
    order by created_at, id
    limit 1
    offset ${skipped}`
}

const columns = fragment`
  users.id, users.name, users.name_key as "nameKey", users.role, users.team_id as team, teams.name as "teamName",
  users.service, users.external_id as "externalId", users.created_at as "createdAt", users.disabled_at as "disabledAt",
  users.last_active_at as "lastActiveAt", users.limits,
  case when users.password is not null then 'password' when users.subject is not null then 'oidc' else 'none' end
    as login`

/** Of older versions that run at the same time, users may have no `name_key`. */
const matches = fragment`
  coalesce(users.name_key, lower(users.name)) like wanted.pattern escape '!'
  and (wanted.role is null or users.role = wanted.role)
  and (wanted.team_id is null or users.team_id = wanted.team_id)
  and (wanted.state is null or (wanted.state = 'disabled') = (users.disabled_at is not null))`

/** Of the first `count` users of a range, which end at `until`, those that match a filter; at most `limit`. */
export const matchingUsers = (
  { order, part, after }: UserRange,
  { count, until }: { readonly count: number; readonly until: PagePlace | undefined },
  { text, role, team, state }: UserFilter & { readonly text: string },
  limit: number,
): Statement => {
  const pattern = `%${text.replaceAll(/[!%_]/g, '!$&')}%`
  const id = after?.id ?? ''
  const [at, end] = [timeOf(after), until === undefined ? Number.MAX_SAFE_INTEGER : timeOf(until)]
  const endId = until?.id ?? ''
  const wanted = clause`
    with wanted as (
      select cast(${role} as text) as role, cast(${team} as text) as team_id, cast(${state} as text) as state,
        cast(${pattern} as text) as pattern
    )
    select ${columns}`
  if (order === 'part') {
    return clause`
      ${wanted}
      from (
        select user_id as id
        from user_name_parts
        where part = ${part}
        and user_id > ${id}
        order by user_id
        limit ${count}
      ) as examined
      cross join wanted
      join users on users.id = examined.id
      left join teams on teams.id = users.team_id
      where ${matches}
      order by examined.id
      limit ${limit}`
  }
  if (order === 'names') {
    return clause`
      ${wanted}
      from (
        select name_key, id
        from (
          select name_key, id
          from users
          where (name_key, id) > (${nameOf(after)}, ${id})
          order by name_key, id
          limit ${count}
        ) as walked
        where name_key like ${pattern} escape '!'
      ) as examined
      cross join wanted
      join users on users.id = examined.id
      left join teams on teams.id = users.team_id
      where ${matches}
      order by examined.name_key, examined.id
      limit ${limit}`
  }
  return clause`
    ${wanted}
    from users
    cross join wanted
    left join teams on teams.id = users.team_id
    where ${inOrder(order, team)} (users.created_at, users.id) > (${at}, ${id})
    and (users.created_at, users.id) <= (${end}, ${endId})
    and ${matches}
    order by users.created_at, users.id
    limit ${limit}`
}

const nameOf = (place: PagePlace | undefined): string => (typeof place?.key === 'string' ? place.key : '')

/**
 * Users that a count goes to. Beyond it an index is no better than another. PostgreSQL plans for a tenth of all rows if
 * it does not know the number, and reads all of them first if they need no order.
 */
const maxCounted = fragment`250`
/** Parts of a text that `countUsers` counts. */
export const countedParts = 8

/** How many users, up to `maxCounted`, each order has to examine: `part0` to `part7`, `team`, `admins`, `disabled`. */
export const countUsers = (parts: readonly string[], { team }: UserFilter): Statement => clause`
  select ${partNames.flatMap((name, index) => [usersWithPart(parts[index]), name])}
    (
      select count(*)
      from (select 1 from users where team_id = ${team} order by created_at, id limit ${maxCounted}) as counted
    ) as team,
    (
      select count(*)
      from (select 1 from users where role = 'admin' order by created_at, id limit ${maxCounted}) as counted
    ) as admins,
    (
      select count(*)
      from (select 1 from users where disabled_at is not null order by created_at, id limit ${maxCounted}) as counted
    ) as disabled`

/** The columns of the counts of `countedParts`. */
const partNames = [
  ...[clause` as part0, `, clause` as part1, `, clause` as part2, `, clause` as part3, `],
  ...[clause` as part4, `, clause` as part5, `, clause` as part6, `, clause` as part7, `],
]

const usersWithPart = (part: string | undefined): Statement => clause`
  (
    select count(*)
    from (select 1 from user_name_parts where part = ${part} order by user_id limit ${maxCounted}) as counted
  )`
