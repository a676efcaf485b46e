import type { Account, InvitedUser, OwnAccountStore, OwnSession } from '../../../plugins/web-session/account/store.ts'
import type { Database, Steps } from '../database/database.ts'
import { userChanged } from '../database/revision.ts'
import { type Statement, sql } from '../database/statement.ts'
import { lockKnownUser } from '../database/user-locks.ts'
import { passwordDigest } from './sessions.ts'
import { endInvitationOf, endSessionsOf } from './user-rows.ts'

/** What users do with their own accounts. */
export const createOwnAccountStore = (database: Database): OwnAccountStore => ({
  async account(user) {
    const [account] = await database.query<Account>(sql`
      select users.id, users.name, users.role, teams.name as team, users.password,
        case when users.password is not null then 'password' when users.subject is not null then 'oidc' else 'none' end
          as login
      from users
      left join teams on teams.id = users.team_id
      where users.id = ${user}`)
    return account
  },

  changeOwnPassword: (user, { before, password, keep = '' }) =>
    database.transaction(() => changePassword(user, before, password, keep)),

  async listSessions(user, now) {
    return database.query<OwnSession>(sql`
      select id, created_at as "createdAt", coalesce(last_used_at, created_at) as "lastUsedAt",
        idle_until as "idleUntil", ends_at as "endsAt", user_agent as "userAgent"
      from sessions
      where user_id = ${user}
      and id is not null
      and idle_until > ${now}
      and ends_at > ${now}
      order by created_at desc, id`)
  },

  async endOtherSessions(user, keep = '') {
    await database.query(endOthers(user, keep))
  },

  async endSessionOf(user, id) {
    const ended = await database.query(sql`
      delete from sessions
      where id = ${id}
      and user_id = ${user}
      returning id`)
    return ended.length === 1
  },

  async invitedUser(hash, now) {
    const [invited] = await database.query<InvitedUser>(sql`
      select users.id as "user", users.name, invitations.expires_at as "expiresAt"
      from invitations
      join users on users.id = invitations.user_id
      where invitations.hash = ${hash}
      and invitations.expires_at > ${now}
      and users.disabled_at is null`)
    return invited
  },

  redeemInvitation: (hash, password, now) => database.transaction(() => redeem(hash, password, now)),
})

const endOthers = (user: string, keep: string): Statement => sql`
  delete from sessions
  where user_id = ${user}
  and coalesce(id, '') <> ${keep}`

function* changePassword(user: string, before: string, password: string, keep: string): Steps<boolean> {
  yield lockKnownUser(user)
  const changed = yield sql`
    update users
    set password = ${password}
    where id = ${user}
    and password = ${before}
    and disabled_at is null
    returning id`
  if (changed.length === 0) return false
  yield endOthers(user, keep)
  // The session belongs to the new password from now on.
  yield sql`
    update sessions
    set password_hash = ${passwordDigest(password)}
    where user_id = ${user}`
  yield endInvitationOf(user)
  yield* userChanged(user)
  return true
}

function* redeem(hash: string, password: string, now: number): Steps<{ user: string; name: string } | undefined> {
  const [invited] = yield sql`
    select user_id
    from invitations
    where hash = ${hash}`
  if (!invited) return undefined
  const id = String(invited.user_id)
  yield lockKnownUser(id)
  const [valid] = yield sql`
    select users.name
    from invitations
    join users on users.id = invitations.user_id
    where invitations.hash = ${hash}
    and invitations.expires_at > ${now}
    and users.disabled_at is null
    and users.service = 0`
  if (!valid) return undefined
  yield sql`
    update users
    set password = ${password}
    where id = ${id}`
  yield endInvitationOf(id)
  yield endSessionsOf(id)
  yield* userChanged(id)
  return { user: id, name: String(valid.name) }
}
