import { randomUUID } from 'node:crypto'
import type { AddUserFailure, AdminStore, AdminUser, NewAdminUser } from '../../../plugins/admin/store.ts'
import { nameKey } from '../../../plugins/shared/identity/name-key.ts'
import { type Database, fragment, type Steps, sql } from '../database/database.ts'
import { addInvitationOf } from '../users/invitations.ts'
import { addNameParts, nameTakenBy } from '../users/user-rows.ts'
import { countMembers } from './teams.ts'
import { again } from './transaction.ts'
import { changeUser } from './user-changes.ts'
import { listUserPage, toAdminUser } from './user-pages.ts'
import type { UserRow } from './user-queries.ts'

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
  const { name, password, team, service = false, externalId, invitation } = user
  if (service && (password !== undefined || invitation)) return 'service'
  if ((yield nameTakenBy(name)).length > 0) return 'name-taken'
  if (externalId !== undefined && (yield sql`select id from users where external_id = ${externalId}`).length > 0)
    return 'external-id-taken'
  if (team !== undefined && (yield countMembers(team, 1)).length === 0) return 'unknown-team'
  const id = randomUUID()
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
