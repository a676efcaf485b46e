import type { PendingGroup, PendingGroupStore } from '../../../plugins/admin/pending-groups.ts'
import type { Claim } from '../../../plugins/ownership/store.ts'
import { pageOf, timeOf } from '../admin/page.ts'
import type { Database } from '../database/database.ts'
import { UniqueViolationError } from '../database/error.ts'
import { groupChanged } from '../database/revision.ts'
import { fragment, sql } from '../database/statement.ts'

/** An open claim, as an operator sees it. */
export interface OpenClaim extends Claim {
  /** Name of its user. Undefined when the user is not in the store's table (users of a host app). */
  readonly userName?: string
  /** Id of the group that the upstream created for the claim. Undefined when unknown. */
  readonly group?: string
}

/** The open claims of all users. */
export interface OpenClaimRecords extends Omit<PendingGroupStore, 'adoptGroup'> {
  /** All open claims, oldest first. */
  openClaims(): Promise<readonly OpenClaim[]>
}

const selectClaim = fragment`
  select groups.id, groups.user_id as "user", users.name as "userName", groups.type, groups.name, groups.state,
    groups.renames, groups.account, groups.group_id as "group", groups.created_at as "createdAt",
    groups.due_at as "dueAt"
  from groups
  left join users on users.id = groups.user_id
  where groups.state <> 'owned'`

/** The operator's queries for open claims. */
export const openClaims = (database: Database): OpenClaimRecords => ({
  async openClaims(): Promise<readonly OpenClaim[]> {
    return database.query<OpenClaim>(sql`
      select groups.id, groups.user_id as "user", users.name as "userName", groups.type, groups.name,
        groups.description, groups.renames, groups.account, groups.state, groups.group_id as "group",
        groups.created_at as "createdAt", groups.due_at as "dueAt", groups.ended_at as "endedAt"
      from groups
      left join users on users.id = groups.user_id
      where groups.state <> 'owned'
      order by groups.created_at, groups.id`)
  },

  async pendingGroups({ limit, after }) {
    const rows = await database.query<PendingGroup>(sql`
      ${selectClaim}
      and (groups.created_at, groups.id) > (${timeOf(after)}, ${after?.id ?? ''})
      order by groups.created_at, groups.id
      limit ${limit + 1}`)
    return pageOf(rows, limit)
  },

  async pendingGroup(id) {
    const [found] = await database.query<PendingGroup>(sql`
      ${selectClaim}
      and groups.id = ${id}`)
    return found
  },

  async adoptPendingGroup(id, { user, group }) {
    try {
      const [adopted] = await database.batch([
        sql`
          update groups
          set state = 'owned', group_id = ${group}, user_id = ${user}
          where id = ${id}
          and state <> 'owned'
          and renames is null
          and coalesce(group_id, ${group}) = ${group}
          returning id`,
        ...groupChanged(group, user),
      ])
      if (adopted?.length === 1) return 'adopted'
    } catch (error) {
      if (!(error instanceof UniqueViolationError)) throw error
      const [owned] = await database.query(sql`
        select id
        from groups
        where group_id = ${group}
        and state = 'owned'`)
      return owned ? 'group-taken' : 'name-taken'
    }
    const [claim] = await database.query<PendingGroup>(sql`
      ${selectClaim}
      and groups.id = ${id}`)
    if (!claim) return 'unknown'
    return claim.renames === undefined ? 'other-group' : 'renames'
  },

  async dropClaim(id: string): Promise<boolean> {
    const dropped = await database.query(sql`
      delete from groups
      where id = ${id}
      and state <> 'owned'
      returning id`)
    return dropped.length === 1
  },
})
