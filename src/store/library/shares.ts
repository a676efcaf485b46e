import { randomUUID } from 'node:crypto'
import type {
  LendOutcome,
  LentGroupRecord,
  Share,
  SharedUse,
  ShareStore,
  WantedShare,
} from '../../../plugins/ownership/share-store.ts'
import { nameKey } from '../../../plugins/shared/identity/name-key.ts'
import { lockTeam } from '../admin/teams.ts'
import type { Database, Steps } from '../database/database.ts'
import { sharesChanged } from '../database/revision.ts'
import { type Statement, sql } from '../database/statement.ts'
import { lockKnownUser, lockUser } from '../database/user-locks.ts'
import { disabledUsers } from '../users/disabled-users.ts'

/** Shares of one group. */
const maxSharesOfGroup = 100
/** Shares that one user has given. */
const maxSharesOfOwner = 1_000
/** Shares that one user, or one team, has got. */
const maxSharesOfBorrower = 1_000

/** Which groups are lent to whom. */
export const createShareStore = (database: Database): ShareStore => ({
  lendGroup: (wanted) => database.transaction(() => lend(wanted)),

  async revokeShare({ id: group, user }, share) {
    return database.transaction(function* () {
      const revoked = yield sql`
        delete from group_shares
        where id = ${share}
        and group_id = ${group}
        and owner_id = ${user}
        returning id`
      if (revoked.length > 0) yield* sharesChanged
      return revoked.length > 0
    })
  },

  async returnGroup({ id: group, user: owner }, user) {
    return database.transaction(function* () {
      const returned = yield sql`
        delete from group_shares
        where group_id = ${group}
        and owner_id = ${owner}
        and borrower_kind = 'user'
        and borrower_id = ${user}
        returning id`
      if (returned.length === 0) return 'team'
      yield* sharesChanged
      return 'returned'
    })
  },

  async sharedUses({ id: group, user: owner }, max) {
    return database.query<SharedUse>(sql`
      select case when exists (
          select 1
          from group_shares
          where group_shares.group_id = video_asset_uses.group_id
          and borrower_kind = 'user'
          and borrower_id = video_asset_uses.user_id
        ) then video_asset_uses.user_id end as "user", users.name as "userName", asset_id as asset, submitted_at as at
      from video_asset_uses
      join video_tasks on video_tasks.id = video_asset_uses.task_id
      left join users on users.id = video_asset_uses.user_id
      where video_asset_uses.group_id = ${group}
      and video_asset_uses.user_id <> ${owner}
      and submitted_at is not null
      order by task_id desc, asset_id
      limit ${max}`)
  },

  async sharesOf({ id: group, user }, now) {
    return database.query<Share>(sql`
      select group_shares.id, case when borrower_kind = 'user' then borrower_id end as "user", teams.name as team, access,
        group_shares.created_at as "createdAt", expires_at as "expiresAt", used_at as "usedAt"
      from group_shares
      left join teams on borrower_kind = 'team' and teams.id = borrower_id
      where group_id = ${group}
      and owner_id = ${user}
      and (expires_at is null or expires_at > ${now})
      order by group_shares.created_at, group_shares.id`)
  },

  async groupsLentTo(user, now) {
    return database.query<LentGroupRecord>(sql`
      select groups.group_id as id, groups.user_id as "user", groups.type, groups.name, groups.description,
        groups.account, groups.created_at as "createdAt", nullif(groups.dated, 0) as dated, access, expires_at as until,
        owners.name as "ownerName"
      from group_shares
      join groups on groups.group_id = group_shares.group_id and groups.state = 'owned'
      left join users owners on owners.id = groups.user_id
      where borrower_kind = 'user'
      and borrower_id = ${user}
      and groups.user_id = owner_id
      and (expires_at is null or expires_at > ${now})
      union all
      select groups.group_id as id, groups.user_id as "user", groups.type, groups.name, groups.description,
        groups.account, groups.created_at as "createdAt", nullif(groups.dated, 0) as dated, access, expires_at as until,
        owners.name as "ownerName"
      from users
      join group_shares on borrower_kind = 'team' and borrower_id = users.team_id
      join groups on groups.group_id = group_shares.group_id and groups.state = 'owned'
      left join users owners on owners.id = groups.user_id
      where users.id = ${user}
      and groups.user_id = owner_id
      and owner_id <> users.id
      and (expires_at is null or expires_at > ${now})`)
  },

  async recordGroupUse(user, group, now) {
    // The update locks the share until its end, so a revocation comes before it or after it.
    const used = await database.query(sql`
      update group_shares
      set used_at = ${now}
      where group_id = ${group}
      and access = 'use'
      and (expires_at is null or expires_at > ${now})
      and (
        (borrower_kind = 'user' and borrower_id = ${user})
        or (
          borrower_kind = 'team' and borrower_id = (
            select team_id
            from users
            where id = ${user}
            and disabled_at is null
          )
        )
      )
      and exists (
        select 1
        from groups
        where groups.group_id = group_shares.group_id
        and groups.state = 'owned'
        and groups.user_id = owner_id
      )
      returning id`)
    return used.length > 0
  },
})

/**
 * Locks both users, so that no share outlives the disabling of one of them, and the group, so that none outlives it.
 * Then it counts the shares: of two transactions with the same owner or borrower, the second counts those of the first.
 */
function* lend(wanted: WantedShare): Steps<LendOutcome> {
  const { group, borrower, access, expiresAt, now, isKnown = false } = wanted
  const owner = group.user
  const other = 'user' in borrower ? borrower.user : undefined
  if (other === owner) return 'no-borrower'
  // Always in the same order, so that two transactions cannot deadlock.
  for (const user of other === undefined ? [owner] : [owner, other].sort())
    yield user === owner || isKnown ? lockUser(user) : lockKnownUser(user)
  const [owned] = yield sql`
    update groups
    set state = 'owned'
    where group_id = ${group.id}
    and user_id = ${owner}
    and state = 'owned'
    and not exists (
      select 1
      from ${disabledUsers}
      where disabled_users.id = ${owner}
    )
    and not exists (
      select 1
      from consents
      where consents.group_id = ${group.id}
      and withdrawn_at is not null
    )
    returning id`
  if (!owned) return 'no-group'
  const found = other === undefined ? yield* findTeam(owner, borrower) : yield* findUser(other, isKnown)
  if (!found) return 'no-borrower'
  yield sql`
    delete from group_shares
    where owner_id = ${owner}
    and expires_at <= ${now}`
  const [counted] = yield countShares(group.id, owner, found, now)
  if (isFull(counted)) return 'full'
  const [share] = yield sql`
    insert into group_shares (id, group_id, owner_id, borrower_kind, borrower_id, access, created_at, expires_at)
    values (
      ${randomUUID()}, ${group.id}, ${owner}, ${found.kind}, ${found.id}, ${access}, ${now}, ${expiresAt}
    )
    on conflict (group_id, borrower_kind, borrower_id) do update
    set owner_id = excluded.owner_id, access = excluded.access, expires_at = excluded.expires_at
    returning id, access, created_at as "createdAt", expires_at as "expiresAt", used_at as "usedAt"`
  yield* sharesChanged
  return { ...(share as unknown as Share), ...(found.kind === 'user' ? { user: found.id } : { team: found.name }) }
}

interface FoundBorrower {
  readonly kind: 'user' | 'team'
  readonly id: string
  readonly name?: string
}

/** The owner's team, if the borrower is that. */
function* findTeam(owner: string, borrower: WantedShare['borrower']): Steps<FoundBorrower | undefined> {
  const name = 'team' in borrower ? borrower.team : ''
  const [team] = yield sql`
    select teams.id, teams.name
    from users
    join teams on teams.id = users.team_id
    where users.id = ${owner}
    and teams.name_key = ${nameKey(name)}`
  if (!team) return undefined
  yield lockTeam(String(team.id))
  return { kind: 'team', id: String(team.id), name: String(team.name) }
}

function* findUser(id: string, isKnown: boolean): Steps<FoundBorrower | undefined> {
  const [known] = yield sql`
    select disabled_at as "disabledAt"
    from users
    where id = ${id}`
  if (known) return known.disabledAt === undefined ? { kind: 'user', id } : undefined
  if (!isKnown) return undefined
  const disabled = yield sql`
    select id
    from disabled_host_users
    where id = ${id}`
  return disabled.length > 0 ? undefined : { kind: 'user', id }
}

/** What is lent already, without the share that the new one replaces. */
const countShares = (group: string, owner: string, { kind, id }: FoundBorrower, now: number): Statement => sql`
  select (
      select count(*)
      from group_shares
      where group_id = ${group}
      and (borrower_kind <> ${kind} or borrower_id <> ${id})
    ) as "ofGroup", (
      select count(*)
      from group_shares
      where owner_id = ${owner}
      and (group_id <> ${group} or borrower_kind <> ${kind} or borrower_id <> ${id})
    ) as "ofOwner", (
      select count(*)
      from group_shares
      where borrower_kind = ${kind}
      and borrower_id = ${id}
      and group_id <> ${group}
      and (expires_at is null or expires_at > ${now})
    ) as "ofBorrower"`

const isFull = ({ ofGroup = 0, ofOwner = 0, ofBorrower = 0 }: Readonly<Record<string, unknown>> = {}): boolean =>
  Number(ofGroup) >= maxSharesOfGroup ||
  Number(ofOwner) >= maxSharesOfOwner ||
  Number(ofBorrower) >= maxSharesOfBorrower

/** Ends what a user lends and borrows, if the user is disabled by now. `sharesChange` must follow. */
export const endSharesOf = (user: string): Statement => sql`
  delete from group_shares
  where (owner_id = ${user} or (borrower_kind = 'user' and borrower_id = ${user}))
  and exists (
    select 1
    from ${disabledUsers}
    where disabled_users.id = ${user}
  )
  returning id`

/** Ends what a user lends to a team: the user leaves it. `sharesChange` must follow. */
export const endSharesWithTeam = (user: string, team: string): Statement => sql`
  delete from group_shares
  where owner_id = ${user}
  and borrower_kind = 'team'
  and borrower_id = ${team}
  returning id`
