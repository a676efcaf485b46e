import type { AdminStore, ChangeUserOutcome, UserChange } from '../../../plugins/admin/store.ts'
import { nameKey } from '../../../plugins/shared/identity/name-key.ts'
import type { Role } from '../../../plugins/shared/identity/scopes.ts'
import type { Database, Steps } from '../database/database.ts'
import { sharesChange, userChanged } from '../database/revision.ts'
import { sql } from '../database/statement.ts'
import { lockAdmins, lockKnownUser } from '../database/user-locks.ts'
import { endSharesOf, endSharesWithTeam } from '../library/shares.ts'
import { endWorkOf } from '../users/disabled-users.ts'
import { addNameParts, endInvitationOf, endSessionsOf, nameTakenBy } from '../users/user-rows.ts'
import { countMembers } from './teams.ts'
import { again, flag, OvertakenError } from './transaction.ts'

type ChangeOptions = Parameters<AdminStore['changeUser']>[2]

/** Changes a user. See `AdminStore.changeUser`. */
export const changeUser = (
  database: Database,
  id: string,
  change: UserChange,
  options: ChangeOptions,
): Promise<ChangeUserOutcome> => again(() => database.transaction(() => changeUserSteps(id, change, options)))

interface Found {
  readonly role: Role
  readonly service: number
  readonly nameKey?: string
  readonly team?: string
  readonly disabledAt?: number
}

/** The steps of a transaction that changes a user. */
export function* changeUserSteps(id: string, change: UserChange, options: ChangeOptions): Steps<ChangeUserOutcome> {
  const { role, disabled, name, team, password, externalId } = change
  const removesAdmin = role === 'user' || disabled === true
  if (removesAdmin && options.keepLastAdmin) yield lockAdmins
  yield lockKnownUser(id)
  const [user] = (yield sql`
    select role, service, name_key as "nameKey", team_id as team, disabled_at as "disabledAt"
    from users
    where id = ${id}`) as unknown as readonly Found[]
  if (!user) return 'unknown'
  if (options.ifRole !== undefined && user.role !== options.ifRole) return 'other-role'
  if (password !== undefined && user.service === 1) return 'service'
  if (removesAdmin && options.keepLastAdmin && user.role === 'admin' && user.disabledAt === undefined) {
    const others = yield sql`
      select id
      from users
      where role = 'admin'
      and disabled_at is null
      and service = 0
      and id <> ${id}
      limit 1`
    if (others.length === 0) return 'last-admin'
  }
  if (name !== undefined && (yield nameTakenBy(name, id)).length > 0) return 'name-taken'
  if (typeof externalId === 'string') {
    const taken = yield sql`
      select id
      from users
      where external_id = ${externalId}
      and id <> ${id}`
    if (taken.length > 0) return 'external-id-taken'
  }
  if (typeof team === 'string' && (yield sql`select id from teams where id = ${team}`).length === 0)
    return 'unknown-team'
  if (team !== undefined) yield* moveMember(user.team, team ?? undefined)
  yield update(id, change, options.now)
  if (name !== undefined && user.nameKey !== nameKey(name)) {
    if (user.nameKey !== undefined) yield passOnNameKey(user.nameKey)
    yield sql`delete from user_name_parts where user_id = ${id}`
    yield addNameParts(id)
  }
  // Whoever may change users only must not have a way to one that became an admin.
  const promotes = role === 'admin' && user.role !== 'admin'
  if (promotes || disabled !== undefined || password !== undefined) yield endSessionsOf(id)
  if (promotes || disabled === true || password !== undefined) yield endInvitationOf(id)
  const ended = yield* endShares(id, disabled === true, team === undefined ? undefined : user.team)
  if (disabled === true) for (const statement of endWorkOf(id, options.now)) yield statement
  yield* userChanged(id)
  // Borrowers see the name of the lender.
  if (ended || name !== undefined) yield sharesChange
  return 'changed'
}

/** Ends the shares that a disabled user has given or got, and those to a team that their owner leaves. */
function* endShares(id: string, disabled: boolean, leaves: string | undefined): Steps<boolean> {
  const statements = [
    ...(disabled ? [endSharesOf(id)] : []),
    ...(leaves === undefined ? [] : [endSharesWithTeam(id, leaves)]),
  ]
  let ended = 0
  for (const statement of statements) ended += (yield statement).length
  return ended > 0
}

/** Counts a user who leaves one team and joins another. Locks both, always in the same order. */
function* moveMember(from: string | undefined, to: string | undefined): Steps {
  if (from === to) return
  const moves = [[from, -1] as const, [to, 1] as const]
  for (const [team, change] of moves.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)))
    if (team !== undefined && (yield countMembers(team, change)).length === 0) throw new OvertakenError()
}

const update = (id: string, change: UserChange, now: number) => {
  const { name, role, team, disabled, password, externalId, limits } = change
  const key = name === undefined ? undefined : nameKey(name)
  const disabledAt = disabled === true ? now : undefined
  return sql`
    update users
    set name = coalesce(cast(${name} as text), name),
      name_shared = case
        when cast(${key} as text) is null or name_key = cast(${key} as text) then name_shared
        else 0
      end,
      name_key = coalesce(cast(${key} as text), name_key),
      role = coalesce(cast(${role} as text), role),
      team_id = case when ${flag(team)} = 1 then cast(${team} as text) else team_id end,
      disabled_at = case
        when ${flag(disabled)} = 0 then disabled_at
        when cast(${disabledAt} as bigint) is null then null
        else coalesce(disabled_at, cast(${disabledAt} as bigint))
      end,
      password = coalesce(cast(${password} as text), password),
      external_id = case when ${flag(externalId)} = 1 then cast(${externalId} as text) else external_id end,
      limits = case when ${flag(limits)} = 1 then cast(${limits} as text) else limits end
    where id = ${id}`
}

/** Gives a key that is no longer in use to the oldest of the users who shared it, so that it stays taken. */
const passOnNameKey = (key: string) => sql`
  update users
  set name_shared = 0
  where id = (
    select id
    from users
    where name_key = ${key}
    and name_shared = 1
    order by created_at, id
    limit 1
  )
  and not exists (
    select 1
    from users taken
    where taken.name_key = ${key}
    and taken.name_shared = 0
  )`
