import { randomUUID } from 'node:crypto'
import type { Claim, ClaimStore } from '../../plugins/ownership/store.ts'
import { type Database, sql } from './database.ts'
import { UniqueViolationError } from './error.ts'
import { groupChanged, groupsChanged } from './revision.ts'

interface Made {
  readonly id: string
  readonly createdAt: number
}

/** Names taken before the upstream is asked. Two unique indexes are the last guard of everything here; each statement may meet any other at any time. */
export const claims = (database: Database): ClaimStore => {
  /**
   * Undefined when an index refuses: the name or the group is somebody else's by now. Asked twice, because `on conflict` heeds one index: when two
   * insert the same record at once, another index may refuse the slower one, who then finds what it wanted.
   */
  const unlessTaken = async <Result>(attempt: () => Promise<Result>): Promise<Result | undefined> => {
    for (let again = true; ; again = false) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof UniqueViolationError)) throw error
        if (!again) return undefined
      }
    }
  }

  const own = async (claim: Claim, group: Made): Promise<boolean> => {
    const owned = await unlessTaken(() =>
      database.batch([
        sql`
          insert into groups (id, group_id, user_id, type, name, description, state, created_at, due_at)
          values (
            ${claim.id}, ${group.id}, ${claim.user}, ${claim.type}, ${claim.name}, ${claim.description}, 'owned',
            ${group.createdAt}, ${claim.dueAt}
          )
          on conflict (id) do update
          set state = 'owned', group_id = excluded.group_id, created_at = excluded.created_at
          where groups.state <> 'owned'
          or groups.group_id = excluded.group_id
          returning id`,
        ...groupsChanged(claim.user),
      ]),
    )
    return owned?.[0]?.length === 1
  }

  const rename = async (claim: Claim): Promise<boolean> => {
    const changed = await unlessTaken(() =>
      database.batch([
        // The claim lets go of the name before the group takes it.
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

  /** Keeps the claim without its name; with the id of the group, where that is known. False when the claim has become a group's record. */
  const unresolve = async (claim: Claim, dueAt: number, group?: string): Promise<boolean> => {
    const kept = await database.query(sql`
      insert into groups (id, group_id, user_id, type, name, description, renames, state, created_at, due_at)
      values (
        ${claim.id}, ${group}, ${claim.user}, ${claim.type}, ${claim.name}, ${claim.description}, ${claim.renames},
        'unresolved', ${claim.createdAt}, ${dueAt}
      )
      on conflict (id) do update
      set state = 'unresolved', due_at = excluded.due_at, group_id = coalesce(excluded.group_id, groups.group_id)
      where groups.state <> 'owned'
      returning id`)
    return kept.length === 1
  }

  const hasRival = async (claim: Claim): Promise<boolean> => {
    const rivals = await database.query(sql`
      select id
      from groups
      where type = ${claim.type}
      and name = ${claim.name}
      and state <> 'owned'
      and id <> ${claim.id}
      limit 1`)
    return rivals.length > 0
  }

  return {
    async claim(wanted) {
      const id = randomUUID()
      const made = await database.query(sql`
        insert into groups (id, user_id, type, name, description, renames, state, created_at, due_at)
        values (
          ${id}, ${wanted.user}, ${wanted.type}, ${wanted.name}, ${wanted.description}, ${wanted.renames}, 'pending',
          ${wanted.createdAt}, ${wanted.dueAt}
        )
        on conflict do nothing
        returning id`)
      return made.length === 1 ? { ...wanted, id, state: 'pending' } : undefined
    },

    // The condition of its index, word for word: else SQLite does not use it.
    async isUnsettled({ user, type, name }) {
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
      if (claim.renames === undefined ? await own(claim, group) : await rename(claim)) return true
      const kept = await unresolve(claim, claim.dueAt, group.id)
      // The claim was adopted with another group meanwhile: this one needs a trace of its own.
      if (!kept) await unresolve({ ...claim, id: randomUUID() }, claim.dueAt, group.id)
      return false
    },

    async release(claim) {
      await database.query(sql`
        delete from groups
        where id = ${claim.id}
        and state <> 'owned'`)
    },

    async keep(claim, endedAt, dueAt) {
      await database.query(sql`
        update groups
        set ended_at = ${endedAt}, due_at = ${dueAt}
        where id = ${claim.id}
        and state <> 'owned'`)
    },

    async doubt(claim, dueAt) {
      await unresolve(claim, dueAt)
    },

    async lease(now, until) {
      const due = await database.query<{ id: string }>(sql`
        select id
        from groups
        where state <> 'owned'
        and due_at <= ${now}
        order by created_at, id
        limit 100`)
      // One by one and in one order for all: two that lease at once would else wait for each other's rows.
      const leased = await database.batch(
        due.map(
          ({ id }) => sql`
            update groups
            set due_at = ${until}
            where id = ${id}
            and state <> 'owned'
            and due_at <= ${now}
            returning id, user_id as "user", type, name, description, renames, state, created_at as "createdAt",
              due_at as "dueAt", ended_at as "endedAt"`,
        ),
      )
      return leased.flat() as unknown as Claim[]
    },

    async adopt(claim, group) {
      if (claim.renames !== undefined) {
        if (await hasRival(claim)) return 'rival'
        return (await rename(claim)) ? 'adopted' : 'taken'
      }
      const adopted = await unlessTaken(() =>
        database.batch([
          sql`
            insert into groups (id, group_id, user_id, type, name, description, state, created_at, due_at)
            select ${claim.id}, ${group.id}, ${claim.user}, ${claim.type}, ${claim.name}, ${claim.description}, 'owned',
              ${group.createdAt}, ${claim.dueAt}
            where not exists (
              select 1
              from groups rival
              where rival.type = ${claim.type}
              and rival.name = ${claim.name}
              and rival.state <> 'owned'
              and rival.id <> ${claim.id}
            )
            on conflict (id) do update
            set state = 'owned', group_id = excluded.group_id, created_at = excluded.created_at
            where groups.state <> 'owned'
            or groups.group_id = excluded.group_id
            returning id`,
          ...groupsChanged(claim.user),
        ]),
      )
      if (adopted?.[0]?.length === 1) return 'adopted'
      return adopted !== undefined && (await hasRival(claim)) ? 'rival' : 'taken'
    },

    async nextDue() {
      const [row] = await database.query<{ due?: number }>(sql`
        select min(due_at) as due
        from groups
        where state <> 'owned'`)
      return row?.due
    },
  }
}
