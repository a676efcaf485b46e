import type { AdminStore, NewInvitation } from '../../../plugins/admin/store.ts'
import type { Database, Steps } from '../database/database.ts'
import { type Statement, sql } from '../database/statement.ts'
import { lockKnownUser } from '../database/user-locks.ts'

type AddInvitation = AdminStore['addInvitation']

/** Invitations, for operators. Their holders use them by `own-accounts.ts`. */
export const createInvitationStore = (database: Database): Pick<AdminStore, 'addInvitation'> => ({
  addInvitation: (...[user, invitation, conditions]: Parameters<AddInvitation>) =>
    database.transaction(() => add(user, invitation, conditions)),
})

/** Stores the invitation of a user; one before ends. */
export const addInvitationOf = (user: string, { hash, createdAt, expiresAt }: NewInvitation): Statement => sql`
  insert into invitations (user_id, hash, created_at, expires_at)
  values (${user}, ${hash}, ${createdAt}, ${expiresAt})
  on conflict (user_id) do update
  set hash = excluded.hash, created_at = excluded.created_at, expires_at = excluded.expires_at`

function* add(
  ...[user, invitation, { ifRole } = {}]: Parameters<AddInvitation>
): Steps<Awaited<ReturnType<AddInvitation>>> {
  yield lockKnownUser(user)
  const [found] = yield sql`
    select role, service, disabled_at
    from users
    where id = ${user}`
  if (!found) return 'unknown'
  if (ifRole !== undefined && found.role !== ifRole) return 'other-role'
  if (found.service === 1) return 'service'
  if (found.disabled_at !== undefined) return 'disabled'
  yield addInvitationOf(user, invitation)
  return 'added'
}
