import type { AcceptedLogin, OidcLogin, OidcUserStore, RejectedLogin } from '../../../plugins/oidc-login/store.ts'
import type { Role } from '../../../plugins/shared/identity/scopes.ts'
import { addUserSteps } from '../admin/admin-users.ts'
import { again } from '../admin/transaction.ts'
import { changeUserSteps } from '../admin/user-changes.ts'
import type { Database, Steps } from '../database/database.ts'
import { userChanged } from '../database/revision.ts'
import { fragment, sql } from '../database/statement.ts'
import { lockAdmins, lockKnownUser } from '../database/user-locks.ts'
import { endInvitationOf, endSessionsOf } from './user-rows.ts'

/** The users of identity providers. */
export const createOidcUserStore = (database: Database): OidcUserStore => ({
  logInOidcUser: (login) => again(() => database.transaction(() => steps(login))),
})

interface Found {
  readonly id: string
  readonly name: string
  readonly password?: string
  readonly role: Role
  readonly disabledAt?: number
}

const columns = fragment`users.id, users.name, users.password, users.role, users.disabled_at as "disabledAt"`

function* steps(login: OidcLogin): Steps<AcceptedLogin | RejectedLogin> {
  const { issuer, subject, name, role, now } = login
  // Before the lock of a user, as in all transactions that may take away the role of an admin.
  if (role === 'user') yield lockAdmins
  const invited = yield* invitedUser(login)
  const known = yield* knownUser(login)
  if (known) {
    if (invited && invited.id !== known.id) return 'known'
    if (known.disabledAt !== undefined) return 'disabled'
    if (invited) yield endInvitationOf(known.id)
    return yield* withRole(known, 'known', login)
  }
  if (invited) {
    yield* accept(invited.id, login)
    const { password, ...user } = invited
    return yield* withRole(user, 'invited', login)
  }
  if (login.invitation !== undefined) return 'invitation'
  if (name === undefined) return 'no-name'
  const added = yield* addUserSteps({ name, role, createdAt: now })
  if (typeof added === 'string') {
    // A login of the same person at the same moment may have added the user since.
    const user = yield* knownUser(login)
    return user ? yield* withRole(user, 'known', login) : 'name-taken'
  }
  yield sql`
    update users
    set issuer = ${issuer}, subject = ${subject}
    where id = ${added.id}`
  return { user: { id: added.id, name: added.name }, found: 'added' }
}

function* knownUser({ issuer, subject }: OidcLogin): Steps<Found | undefined> {
  const [known] = (yield sql`
    select ${columns}
    from users
    where issuer = ${issuer}
    and subject = ${subject}`) as unknown as readonly Found[]
  return known
}

/** The user of the login's invitation, who is locked. Undefined without one that is valid. */
function* invitedUser({ invitation, now }: OidcLogin): Steps<Found | undefined> {
  if (invitation === undefined) return undefined
  const [row] = yield sql`
    select user_id
    from invitations
    where hash = ${invitation}`
  if (!row) return undefined
  yield lockKnownUser(String(row.user_id))
  // Another request may have used or replaced the invitation before the lock.
  const [user] = (yield sql`
    select ${columns}
    from invitations
    join users on users.id = invitations.user_id
    where invitations.hash = ${invitation}
    and invitations.expires_at > ${now}
    and users.disabled_at is null
    and users.service = 0`) as unknown as readonly Found[]
  return user
}

/** Makes an invited user the one of the issuer and subject, who no longer logs in in another way. */
function* accept(user: string, { issuer, subject }: OidcLogin): Steps<void> {
  yield sql`
    update users
    set issuer = ${issuer}, subject = ${subject}, password = null
    where id = ${user}`
  yield endInvitationOf(user)
  yield endSessionsOf(user)
  yield* userChanged(user)
}

/** Gives the user the role of the claims. */
function* withRole(
  { id, name, password, role: before }: Found,
  found: AcceptedLogin['found'],
  { role, now }: OidcLogin,
): Steps<AcceptedLogin> {
  const accepted = { user: { id, name, ...(password !== undefined && { password }) }, found }
  if (role === undefined || role === before) return accepted
  const outcome = yield* changeUserSteps(id, { role }, { now, keepLastAdmin: true })
  return outcome === 'changed' ? { ...accepted, newRole: role } : { ...accepted, isLastAdmin: true }
}
