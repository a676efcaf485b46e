import { randomUUID } from 'node:crypto'
import type { Claim, ClaimStore } from '../../../plugins/ownership/store.ts'
import type { Database } from '../database/database.ts'
import { UniqueViolationError } from '../database/error.ts'
import { groupChanged, groupsChanged } from '../database/revision.ts'
import { type Statement, sql } from '../database/statement.ts'
import { dueClaims } from './due-claims.ts'

interface CreatedGroup {
  readonly id: string
  readonly createdAt: number
}

const lockCount = ({ user, account = '' }: Pick<Claim, 'user' | 'account'>): Statement => sql`
  insert into library_counts (user_id, account, groups, assets)
  values (${user}, ${account}, 0, 0)
  on conflict (user_id, account) do update
  set groups = library_counts.groups`

/**
 * Claims: names that are reserved before the gateway calls the upstream.
 *
 * Any statement here may run concurrently with any other. Unique indexes guarantee that a name and a group have one
 * owner each, and that a group has one open claim that renames it. A claim that has a group id is one whose call has
 * renamed the group, while another group has got the name: it bars no further renaming.
 */
export const createClaimStore = (database: Database): ClaimStore => {
  /**
   * Undefined when a unique index rejects the attempt: the name or the group has another owner by now.
   *
   * Tries twice, because `on conflict` covers one index only. When two processes insert the same record at once,
   * another index may reject the slower one; its second try then updates the record.
   */
  const unlessUniqueViolation = async <Result>(attempt: () => Promise<Result>): Promise<Result | undefined> => {
    for (let canRetry = true; ; canRetry = false) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof UniqueViolationError)) throw error
        if (!canRetry) return undefined
      }
    }
  }

  const confirmCreation = async (claim: Claim, group: CreatedGroup): Promise<boolean> => {
    const owned = await unlessUniqueViolation(() =>
      database.batch([
        sql`
          insert into groups (id, group_id, user_id, type, name, description, account, state, created_at, due_at)
          values (
            ${claim.id}, ${group.id}, ${claim.user}, ${claim.type}, ${claim.name}, ${claim.description},
            ${claim.account}, 'owned', ${group.createdAt}, ${claim.dueAt}
          )
          on conflict (id) do update
          set state = 'owned', group_id = excluded.group_id, account = excluded.account,
            created_at = excluded.created_at
          where groups.state <> 'owned'
          or groups.group_id = excluded.group_id
          returning id`,
        ...groupsChanged(claim.user),
      ]),
    )
    return owned?.[0]?.length === 1
  }

  const confirmRename = async (claim: Claim): Promise<boolean> => {
    const changed = await unlessUniqueViolation(() =>
      database.batch([
        // A unique index covers the name: the claim must release it before the group can take it.
        sql`
          update groups
          set state = 'unresolved'
          where id = ${claim.id}
          and state <> 'owned'
          and exists (
            select 1
            from groups renamed
            where renamed.group_id = ${claim.renames}
            and renamed.user_id = ${claim.user}
            and renamed.state = 'owned'
          )`,
        sql`
          update groups
          set name = ${claim.name}, description = coalesce(${claim.description}, description)
          where group_id = ${claim.renames}
          and user_id = ${claim.user}
          and state = 'owned'
          returning id`,
        sql`
          delete from groups
          where id = ${claim.id}
          and state <> 'owned'
          and exists (
            select 1
            from groups renamed
            where renamed.group_id = ${claim.renames}
            and renamed.user_id = ${claim.user}
            and renamed.name = ${claim.name}
            and renamed.state = 'owned'
          )`,
        ...groupChanged(claim.renames, claim.user),
      ]),
    )
    return changed?.[1]?.length === 1
  }

  /**
   * Releases the claim's name but keeps the claim, with the id of the group if known. False when the claim has become
   * the record of a group, or when it was removed and another claim renames the group.
   */
  const keepUnresolved = async (claim: Claim, dueAt: number, group?: string): Promise<boolean> => {
    const kept = await unlessUniqueViolation(() =>
      database.query(sql`
      insert into groups (
        id, group_id, user_id, type, name, description, renames, account, state, created_at, due_at
      )
      values (
        ${claim.id}, ${group}, ${claim.user}, ${claim.type}, ${claim.name}, ${claim.description}, ${claim.renames},
        ${claim.account}, 'unresolved', ${claim.createdAt}, ${dueAt}
      )
      on conflict (id) do update
      set state = 'unresolved', due_at = excluded.due_at, group_id = coalesce(excluded.group_id, groups.group_id)
      where groups.state <> 'owned'
      returning id`),
    )
    return kept?.length === 1
  }

  const hasRival = async (claim: Claim): Promise<boolean> => {
    const rivals = await database.query(sql`
      select id
      from groups
      where type = ${claim.type}
      and name = ${claim.name}
      and state <> 'owned'
      and id <> ${claim.id}
      and (user_id <> ${claim.user} or ended_at is null)
      limit 1`)
    return rivals.length > 0
  }

  const hasOpenRename = async (group: string): Promise<boolean> => {
    const open = await database.query(sql`
      select id
      from groups
      where renames = ${group}
      and group_id is null`)
    return open.length > 0
  }

  return {
    ...dueClaims(database),

    // A claim for the name that a group has is unresolved: the record of the group reserves the name.
    async claim(wanted) {
      const { id = randomUUID() } = wanted
      const [inserted] = await database.query<Pick<Claim, 'state'>>(sql`
        insert into groups (id, user_id, type, name, description, renames, account, state, created_at, due_at)
        values (
          ${id}, ${wanted.user}, ${wanted.type}, ${wanted.name}, ${wanted.description}, ${wanted.renames},
          ${wanted.account},
          case when exists (
            select 1
            from groups renamed
            where renamed.group_id = ${wanted.renames}
            and renamed.user_id = ${wanted.user}
            and renamed.name = ${wanted.name}
            and renamed.state = 'owned'
          ) then 'unresolved' else 'pending' end,
          ${wanted.createdAt}, ${wanted.dueAt}
        )
        on conflict do nothing
        returning state`)
      return inserted && { ...wanted, id, state: inserted.state }
    },

    async claimOutcome(id) {
      const [row] = await database.query<{ state: string; group?: string }>(sql`
        select state, group_id as "group"
        from groups
        where id = ${id}`)
      if (!row) return undefined
      return row.state === 'owned' && row.group !== undefined ? { group: row.group } : 'open'
    },

    // SQLite uses a partial index only if the query repeats the condition of the index word for word
    // (https://www.sqlite.org/partialindex.html, section 3).
    async hasUnresolved({ user, type, name, renames }) {
      if (renames !== undefined && (await hasOpenRename(renames))) return true
      const holders = await database.query(sql`
        select id
        from groups
        where user_id = ${user}
        and type = ${type}
        and name = ${name}
        and state = 'pending'
        and state <> 'unresolved'
        and ended_at is not null`)
      return holders.length > 0
    },

    async confirm(claim, group) {
      if (claim.renames === undefined ? await confirmCreation(claim, group) : await confirmRename(claim)) return true
      const kept = await keepUnresolved(claim, claim.dueAt, group.id)
      // The claim was meanwhile adopted with another group. This group gets an unresolved claim of its own, so that an
      // operator can find it.
      if (!kept) await keepUnresolved({ ...claim, id: randomUUID() }, claim.dueAt, group.id)
      return false
    },

    async release(claim) {
      await database.query(sql`
        delete from groups
        where id = ${claim.id}
        and state <> 'owned'`)
    },

    async postpone(claim, endedAt, dueAt) {
      await database.query(sql`
        update groups
        set ended_at = ${endedAt}, due_at = ${dueAt}
        where id = ${claim.id}
        and state <> 'owned'`)
    },

    async markUnresolved(claim, dueAt) {
      await keepUnresolved(claim, dueAt)
    },

    async adopt(claim, group) {
      if (claim.renames !== undefined) {
        if (await hasRival(claim)) return 'rival'
        return (await confirmRename(claim)) ? 'adopted' : 'taken'
      }
      const adopted = await unlessUniqueViolation(() =>
        database.batch([
          // In the order of `confirm`, so that the two cannot deadlock: the group changes the count, too.
          lockCount(claim),
          // Before the group: while its owner removes its record, this waits, and then sees that change.
          ...groupsChanged(claim.user),
          sql`
            insert into groups (id, group_id, user_id, type, name, description, account, state, created_at, due_at)
            select ${claim.id}, ${group.id}, ${claim.user}, ${claim.type}, ${claim.name}, ${claim.description},
              ${claim.account}, 'owned', ${group.createdAt}, ${claim.dueAt}
            where not exists (
              select 1
              from groups rival
              where rival.type = ${claim.type}
              and rival.name = ${claim.name}
              and rival.state <> 'owned'
              and rival.id <> ${claim.id}
              and (rival.user_id <> ${claim.user} or rival.ended_at is null)
            )
            and not exists (
              select 1
              from changes
              where kind = 'group'
              and key = ${group.id}
            )
            on conflict (id) do update
            set state = 'owned', group_id = excluded.group_id, account = excluded.account,
              created_at = excluded.created_at
            where groups.state <> 'owned'
            or groups.group_id = excluded.group_id
            returning id`,
        ]),
      )
      if (adopted?.at(-1)?.length === 1) return 'adopted'
      return adopted !== undefined && (await hasRival(claim)) ? 'rival' : 'taken'
    },
  }
}
