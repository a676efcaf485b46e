import type { Role } from '../../../plugins/shared/identity/scopes.ts'
import type { ExternalLogin, ExternalLoginResult, ExternalLoginStore } from '../../../plugins/web-session/store.ts'
import { addUserSteps } from '../admin/admin-users.ts'
import { again } from '../admin/transaction.ts'
import { changeUserSteps } from '../admin/user-changes.ts'
import { type Database, fragment, type Steps, sql } from '../database/database.ts'
import { userChanged } from '../database/revision.ts'
import { lockAdmins, lockKnownUser } from '../database/user-locks.ts'

/** The users of identity providers. */
export const createExternalLoginStore = (database: Database): ExternalLoginStore => ({
  loginByExternalIdentity: (login) => again(() => database.transaction(() => steps(login))),
})

interface Found {
  readonly id: string
  readonly name: string
  readonly password?: string
  readonly role: Role
  readonly disabledAt?: number
}

const columns = fragment`users.id, users.name, users.password, users.role, users.disabled_at as "disabledAt"`

function* steps(login: ExternalLogin): Steps<ExternalLoginResult> {
  const { issuer, subject, name, role, now } = login
  // Before the lock of a user, as in all transactions that may take away the role of an admin.
  if (role === 'user') yield lockAdmins
  const [known] = (yield sql`
    select ${columns}
    from users
    where issuer = ${issuer}
    and subject = ${subject}`) as unknown as readonly Found[]
  if (known) return yield* finish(known, login, false)
  const invited = yield* linkInvited(login)
  if (invited) return yield* finish(invited, login, true)
  const added = yield* addUserSteps({ name, role, createdAt: now })
  if (typeof added === 'string') return 'name-taken'
  yield sql`
    update users
    set issuer = ${issuer}, subject = ${subject}
    where id = ${added.id}`
  return { user: { id: added.id, name: added.name }, added: true, invited: false }
}

/** Makes the user of a valid invitation the one of the issuer and subject. */
function* linkInvited({ invitation, issuer, subject, now }: ExternalLogin): Steps<Found | undefined> {
  if (invitation === undefined) return undefined
  const [user] = (yield sql`
    select ${columns}
    from invitations
    join users on users.id = invitations.user_id
    where invitations.hash = ${invitation}
    and invitations.expires_at > ${now}
    and users.disabled_at is null
    and users.subject is null`) as unknown as readonly Found[]
  if (!user) return undefined
  yield lockKnownUser(user.id)
  const used = yield sql`
    delete from invitations
    where hash = ${invitation}
    returning user_id`
  // Another request has used the invitation, or replaced it, in the meantime.
  if (used.length === 0) return undefined
  yield sql`
    update users
    set issuer = ${issuer}, subject = ${subject}
    where id = ${user.id}`
  yield* userChanged(user.id)
  return user
}

function* finish(user: Found, { role, now }: ExternalLogin, invited: boolean): Steps<ExternalLoginResult> {
  if (user.disabledAt !== undefined) return 'disabled'
  const { id, name, password } = user
  const result = { user: { id, name, ...(password !== undefined && { password }) }, added: false, invited }
  if (role === undefined || role === user.role) return result
  const outcome = yield* changeUserSteps(id, { role }, { now, keepLastAdmin: true })
  return outcome === 'changed' ? { ...result, newRole: role } : result
}
