import { randomUUID } from 'node:crypto'
import type {
  AddUserFailure,
  AdminStore,
  AdminUser,
  NewAdminUser,
  PageOf,
  PagePlace,
  PageRequest,
  UserFilter,
} from '../../../plugins/admin/store.ts'
import { nameKey } from '../../../plugins/shared/identity/name-key.ts'
import type { Database, Steps } from '../database/database.ts'
import { fragment, sql } from '../database/statement.ts'
import { addInvitationOf } from '../users/invitations.ts'
import { addNameParts, nameTakenBy } from '../users/user-rows.ts'
import { countMembers } from './teams.ts'
import { again } from './transaction.ts'
import { changeUser } from './user-changes.ts'
import { countedParts, countUsers, matchingUsers, placeAt, type UserOrder, type UserRow } from './user-queries.ts'

type UserMethods = 'listAdminUsers' | 'adminUser' | 'adminUserByName' | 'addAdminUser' | 'changeUser'

const selectUser = fragment`
  select users.id, users.name, users.role, users.team_id as team, teams.name as "teamName", users.service,
    users.external_id as "externalId", users.created_at as "createdAt", users.disabled_at as "disabledAt",
    users.last_active_at as "lastActiveAt", users.limits,
    case when users.password is not null then 'password' when users.subject is not null then 'oidc' else 'none' end
      as login
  from users
  left join teams on teams.id = users.team_id`

/** The users, for operators. */
export const createAdminUserStore = (database: Database): Pick<AdminStore, UserMethods> => ({
  listAdminUsers: (filter, page) => listUserPage(database, filter, page),

  async adminUser(id) {
    const [row] = await database.query<UserRow>(sql`
      ${selectUser}
      where users.id = ${id}`)
    return row && toAdminUser(row)
  },

  async adminUserByName(name) {
    const [row] = await database.query<UserRow>(sql`
      ${selectUser}
      where users.name = ${name}
      or users.name_key = ${nameKey(name)}
      order by case when users.name = ${name} then 0 else 1 end, users.name_shared
      limit 1`)
    return row && toAdminUser(row)
  },

  addAdminUser: (user) => again(() => database.transaction(() => addUserSteps(user))),

  changeUser: (id, change, options) => changeUser(database, id, change, options),
})

/** The steps of a transaction that adds a user. */
export function* addUserSteps(user: NewAdminUser): Steps<AdminUser | AddUserFailure> {
  const { id = randomUUID(), name, password, team, service = false, externalId, invitation } = user
  if (service && (password !== undefined || invitation)) return 'service'
  if ((yield nameTakenBy(name)).length > 0) return 'name-taken'
  if (externalId !== undefined && (yield sql`select id from users where external_id = ${externalId}`).length > 0)
    return 'external-id-taken'
  if (team !== undefined && (yield countMembers(team, 1)).length === 0) return 'unknown-team'
  yield sql`
    insert into users (id, name, name_key, password, role, team_id, service, external_id, limits, created_at)
    values (${id}, ${name}, ${nameKey(name)}, ${password}, ${user.role ?? 'user'}, ${team}, ${service ? 1 : 0},
      ${externalId}, ${user.limits}, ${user.createdAt})`
  yield addNameParts(id)
  if (invitation) yield addInvitationOf(id, invitation)
  const [added] = yield sql`
    ${selectUser}
    where users.id = ${id}`
  return toAdminUser(added as unknown as UserRow)
}

const toAdminUser = ({ service, nameKey: _, ...user }: UserRow): AdminUser => ({
  ...user,
  service: service === 1,
})

/**
 * Users that one query examines. SQLite runs synchronously, so a filter that few users match must not keep other
 * requests waiting.
 */
const maxExamined = 500
/** The same where the index has the name, so that only users who match are read. */
const maxExaminedNames = 5_000
/** Length of the parts in `user_name_parts`, in code points. */
const partLength = 3

/** Reads one page of users. See `AdminStore.listAdminUsers`. */
const listUserPage = async (
  database: Database,
  filter: UserFilter,
  { limit, after }: PageRequest,
): Promise<PageOf<AdminUser>> => {
  const text = filter.search === undefined ? '' : nameKey(filter.search)
  const way = await chooseOrder(database, text, filter, after)
  const examined = way.order === 'names' ? maxExaminedNames : maxExamined
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const found: UserRow[] = []
  for (let place = after; ; ) {
    const range = { ...way, after: place }
    // Without a filter the users of the page are the next ones.
    const [end] = isFiltered ? await database.query<PagePlace>(placeAt(range, filter, examined)) : []
    const wanted = limit + 1 - found.length
    found.push(
      ...(await database.query<UserRow>(
        matchingUsers(range, { count: examined, until: end }, { ...filter, text }, wanted),
      )),
    )
    const last = found[limit - 1]
    const items = found.slice(0, limit).map(toAdminUser)
    if (found.length > limit && last) return { items, next: placeOf(way.order, last) }
    if (!end) return { items }
    place = end
  }
}

const placeOf = (order: UserOrder, { id, createdAt, nameKey: name = '' }: UserRow): PagePlace => ({
  key: order === 'part' ? '' : order === 'names' ? name : createdAt,
  id,
})

interface Way {
  readonly order: UserOrder
  readonly part: string | undefined
}

/** The order with the fewest users to examine. A later page has the order of the first one: its place tells which. */
const chooseOrder = async (
  database: Database,
  text: string,
  filter: UserFilter,
  after: PagePlace | undefined,
): Promise<Way> => {
  const byAge = ordersByAge(filter)
  const parts = partsOf(text)
  if (text !== '' && parts.length === 0 && byAge.length === 0 && typeof after?.key !== 'number')
    return { order: 'names', part: undefined }
  if (parts.length === 0) return { order: byAge[0] ?? 'all', part: undefined }
  const [counts = {}] = await database.query<Readonly<Record<string, number>>>(countUsers(parts, filter))
  // Of two with many, the one by age comes first: nearly all names may have the part.
  const ways = [
    ...(typeof after?.key === 'string'
      ? []
      : byAge.map((order) => ({ order, part: undefined, users: counts[order] }) as const)),
    ...(typeof after?.key === 'number'
      ? []
      : parts.map((part, index) => ({ order: 'part', part, users: counts[`part${index}`] }) as const)),
  ]
  const [best] = ways.toSorted((a, b) => Number(a.users) - Number(b.users))
  return best ?? { order: 'all', part: undefined }
}

/** The orders by age that have only users who match a part of the filter. */
const ordersByAge = ({ team, role, state }: UserFilter): readonly ('team' | 'admins' | 'disabled')[] => [
  ...(team === undefined ? [] : (['team'] as const)),
  ...(role === 'admin' ? (['admins'] as const) : []),
  ...(state === 'disabled' ? (['disabled'] as const) : []),
]

/** Parts of the text, from its beginning to its end. None: it is too short to have one. */
const partsOf = (text: string): readonly string[] => {
  const characters = [...text]
  const all = characters.length - partLength + 1
  const step = Math.max(1, (all - 1) / (countedParts - 1))
  const parts = new Set<string>()
  for (let start = 0; start < all; start += step) {
    const from = Math.round(start)
    parts.add(characters.slice(from, from + partLength).join(''))
  }
  return [...parts].slice(0, countedParts)
}
