import type { AdminUser, PageOf, PageRequest, UserFilter } from '../../../plugins/admin/store.ts'
import { nameKey } from '../../../plugins/shared/identity/name-key.ts'
import { type Database, fragment, type Statement, sql } from '../database/database.ts'
import { timeOf } from './page.ts'

/** A user as `selectUsers` reads one. */
export interface UserRow extends Omit<AdminUser, 'service'> {
  readonly service: 0 | 1
}

export const toAdminUser = ({ service, ...user }: UserRow): AdminUser => ({ ...user, service: service === 1 })

/**
 * Rows that one query examines. SQLite runs synchronously, so a filter that few users match must not keep other
 * requests waiting.
 */
const maxExamined = 500
/** A part of a name that more users have than this is not counted further. */
const maxCounted = 1_000
/** Parts of the searched text of which the rarest is sought. */
const maxParts = 6
/** Length of the parts in `user_name_parts`, in code points. */
const partLength = 3

const columns = fragment`id, name, role, team_id, service, external_id, created_at, disabled_at, last_active_at, limits,
  name_key, case when password is not null then 'password' when subject is not null then 'oidc' else 'none' end as login`

/** The page, of the users in `examined`: those that match `wanted`, and the last one, which shows where to continue. */
const selectMatches = fragment`
  numbered as (
    select examined.*, row_number() over (order by created_at, id) as by_age, row_number() over (order by id) as by_id,
      count(*) over () as examined,
      case
        when coalesce(wanted.role, examined.role) = examined.role
        and (wanted.team_id is null or examined.team_id = wanted.team_id)
        and (wanted.state is null or (wanted.state = 'disabled') = (examined.disabled_at is not null))
        and coalesce(examined.name_key, lower(examined.name)) like wanted.pattern escape '!'
        then 1
        else 0
      end as matches
    from examined
    cross join wanted
  )
  select numbered.id, numbered.name, numbered.role, numbered.team_id as team, teams.name as "teamName",
    numbered.service, numbered.external_id as "externalId", numbered.created_at as "createdAt",
    numbered.disabled_at as "disabledAt", numbered.last_active_at as "lastActiveAt", numbered.login, numbered.limits,
    numbered.matches, numbered.examined
  from numbered
  left join teams on teams.id = numbered.team_id`

interface ExaminedRow extends UserRow {
  readonly matches: 0 | 1
  readonly examined: number
}

/** Reads one page of users. See `AdminStore.listAdminUsers`. */
export const listUserPage = async (
  database: Database,
  filter: UserFilter,
  { limit, after }: PageRequest,
): Promise<PageOf<AdminUser>> => {
  const text = filter.search === undefined ? '' : nameKey(filter.search)
  const part = await rarestPart(database, text)
  const placeOf = ({ id, createdAt }: UserRow) => ({ key: part === undefined ? createdAt : '', id })
  const found: UserRow[] = []
  let place = after
  const rows = isSelective(filter) ? maxExamined : limit + 1
  for (;;) {
    const examined = await database.query<ExaminedRow>(examine({ ...filter, text, part, place, rows }))
    for (const { matches, examined: _, ...user } of examined) if (matches === 1) found.push(user)
    const last = examined.at(-1)
    const items = found.slice(0, limit).map(toAdminUser)
    const end = found[limit - 1]
    if (found.length > limit && end) return { items, next: placeOf(end) }
    if (!last || last.examined < rows) return { items }
    place = placeOf(last)
  }
}

const isSelective = ({ search, role, team, state }: UserFilter): boolean =>
  [search, role, team, state].some((value) => value !== undefined)

/** The part of the text that the fewest names have. Undefined: the text is too short to have one. */
const rarestPart = async (database: Database, text: string): Promise<string | undefined> => {
  const characters = [...text]
  const parts = new Set<string>()
  for (let start = 0; start + partLength <= characters.length && parts.size < maxParts; start++)
    parts.add(characters.slice(start, start + partLength).join(''))
  const counts = await Promise.all(
    [...parts].map(async (part) => {
      const [row] = await database.query<{ users: number }>(sql`
        select count(*) as users
        from (
          select user_id
          from user_name_parts
          where part = ${part}
          limit ${maxCounted}
        ) as counted`)
      return { part, users: Number(row?.users) }
    }),
  )
  return counts.toSorted((a, b) => a.users - b.users)[0]?.part
}

interface Examination extends UserFilter {
  readonly text: string
  readonly part: string | undefined
  readonly place: PageRequest['after']
  readonly rows: number
}

/** One query for each index, in whose order the users are examined. */
const examine = ({ role, team, state, text, part, place, rows }: Examination): Statement => {
  const pattern = `%${text.replaceAll(/[!%_]/g, '!$&')}%`
  const id = place?.id ?? ''
  const at = timeOf(place)
  if (part !== undefined) {
    return sql`
      with wanted as (
        select cast(${role} as text) as role, cast(${team} as text) as team_id, cast(${state} as text) as state,
          cast(${pattern} as text) as pattern
      ),
      examined as (
        select ${columns}
        from users
        where id in (
          select user_id
          from user_name_parts
          where part = ${part}
          and user_id > ${id}
          order by user_id
          limit ${rows}
        )
      ),
      ${selectMatches}
      where numbered.matches = 1
      or numbered.by_id = numbered.examined
      order by numbered.by_id`
  }
  if (team !== undefined) {
    return sql`
      with wanted as (
        select cast(${role} as text) as role, null as team_id, cast(${state} as text) as state,
          cast(${pattern} as text) as pattern
      ),
      examined as (
        select ${columns}
        from users
        where team_id = ${team}
        and (created_at, id) > (${at}, ${id})
        order by created_at, id
        limit ${rows}
      ),
      ${selectMatches}
      where numbered.matches = 1
      or numbered.by_age = numbered.examined
      order by numbered.by_age`
  }
  if (role === 'admin') {
    return sql`
      with wanted as (
        select null as role, null as team_id, cast(${state} as text) as state, cast(${pattern} as text) as pattern
      ),
      examined as (
        select ${columns}
        from users
        where role = 'admin'
        and (created_at, id) > (${at}, ${id})
        order by created_at, id
        limit ${rows}
      ),
      ${selectMatches}
      where numbered.matches = 1
      or numbered.by_age = numbered.examined
      order by numbered.by_age`
  }
  if (state === 'disabled') {
    return sql`
      with wanted as (
        select cast(${role} as text) as role, null as team_id, null as state, cast(${pattern} as text) as pattern
      ),
      examined as (
        select ${columns}
        from users
        where disabled_at is not null
        and (created_at, id) > (${at}, ${id})
        order by created_at, id
        limit ${rows}
      ),
      ${selectMatches}
      where numbered.matches = 1
      or numbered.by_age = numbered.examined
      order by numbered.by_age`
  }
  return sql`
    with wanted as (
      select cast(${role} as text) as role, null as team_id, cast(${state} as text) as state,
        cast(${pattern} as text) as pattern
    ),
    examined as (
      select ${columns}
      from users
      where (created_at, id) > (${at}, ${id})
      order by created_at, id
      limit ${rows}
    ),
    ${selectMatches}
    where numbered.matches = 1
    or numbered.by_age = numbered.examined
    order by numbered.by_age`
}
