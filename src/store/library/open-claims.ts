import type { Claim } from '../../../plugins/ownership/store.ts'
import { type Database, sql } from '../database/database.ts'

/** An open claim, as an operator sees it. */
export interface OpenClaim extends Claim {
  /** Name of its user. Undefined when the user is not in the store's table (users of a host app). */
  readonly userName?: string
  /** Id of the group that the upstream created for the claim. Undefined when unknown. */
  readonly group?: string
}

/** The open claims of all users. */
export interface OpenClaimRecords {
  /** All open claims, oldest first. */
  openClaims(): Promise<readonly OpenClaim[]>
  /** Deletes an open claim. False when there is none with that id. */
  dropClaim(id: string): Promise<boolean>
}

/** The operator's queries for open claims. */
export const openClaims = (database: Database): OpenClaimRecords => ({
  async openClaims(): Promise<readonly OpenClaim[]> {
    return database.query<OpenClaim>(sql`
      select groups.id, groups.user_id as "user", users.name as "userName", groups.type, groups.name,
        groups.description, groups.renames, groups.state, groups.group_id as "group",
        groups.created_at as "createdAt", groups.due_at as "dueAt", groups.ended_at as "endedAt"
      from groups
      left join users on users.id = groups.user_id
      where groups.state <> 'owned'
      order by groups.created_at, groups.id`)
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
