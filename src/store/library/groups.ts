import { randomUUID } from 'node:crypto'
import type { Group, OwnershipStore } from '../../../plugins/ownership/store.ts'
import type { Database } from '../database/database.ts'
import { UniqueViolationError } from '../database/error.ts'
import { groupChanged } from '../database/revision.ts'
import { sql } from '../database/statement.ts'
import { endPersonSlot, forgetSlottedGroup } from './slots/slotted-rows.ts'

/**
 * Why `adoptGroup` failed: the group has an owner; or its new owner has a group, or an open claim, of that type and
 * name.
 */
export type AdoptionFailure = 'group taken' | 'name taken'

/** The groups of users, and the operator's change to them. */
export interface GroupRecords extends Omit<OwnershipStore, 'revision' | 'onRaise'> {
  /**
   * Makes a user the owner of a group that exists upstream, and resolves the oldest open claim that may stand for it.
   * Returns the reason when that is not possible. Raises the revision.
   */
  adoptGroup(
    wanted: Pick<Group, 'id' | 'user' | 'type' | 'name' | 'account' | 'createdAt'>,
  ): Promise<AdoptionFailure | undefined>
}

/** The owners of groups, and the groups of assets. */
export const createGroupStore = (database: Database): GroupRecords => {
  const group = async (id: string, user?: string): Promise<Group | undefined> => {
    const [found] = await database.query<Group>(sql`
      select group_id as id, user_id as "user", type, name, description, account, created_at as "createdAt",
        nullif(dated, 0) as dated
      from groups
      where group_id = ${id}
      and user_id = coalesce(${user}, user_id)
      and state = 'owned'`)
    return found
  }

  return {
    group,

    // SQLite uses a partial index only if the query repeats the condition of the index word for word
    // (https://www.sqlite.org/partialindex.html, section 3).
    async groupsOf(user: string, type?: string): Promise<readonly Group[]> {
      const found = await database.query<Group>(sql`
        select group_id as id, user_id as "user", type, name, description, account, created_at as "createdAt",
        nullif(dated, 0) as dated
        from groups
        where user_id = ${user}
        and type = coalesce(${type}, type)
        and state = 'owned'
        and state <> 'unresolved'`)
      // Sorted here, because PostgreSQL and SQLite collate text differently.
      return found.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    },

    async groupOfAsset(asset: string, user?: string): Promise<string | undefined> {
      const [found] = await database.query<{ group: string }>(sql`
        select assets.group_id as "group"
        from assets
        left join groups on groups.group_id = assets.group_id and groups.state = 'owned'
        where assets.id = ${asset}
        and coalesce(groups.user_id, '') = coalesce(${user}, groups.user_id, '')`)
      return found?.group
    },

    /** Records the group of an asset. The first record stays for as long as its group has an owner. */
    async recordAsset(asset: string, group: string, slot?: string): Promise<void> {
      const record = sql`
        insert into assets (id, group_id)
        values (${asset}, ${group})
        on conflict (id) do update
        set group_id = excluded.group_id
        where not exists (
          select 1
          from groups
          where groups.group_id = assets.group_id
          and groups.state = 'owned'
        )`
      if (slot === undefined) await database.query(record)
      else await database.batch([...endPersonSlot(slot), record])
    },

    async markAssetDeleted(asset: string, at: number): Promise<void> {
      await database.query(sql`
        update assets
        set deleted_at = coalesce(deleted_at, ${at})
        where id = ${asset}`)
    },

    async removeGroup({ id, user }: Pick<Group, 'id' | 'user'>): Promise<void> {
      await database.batch([
        sql`
          delete from assets
          where group_id = ${id}`,
        sql`
          delete from registered_pictures
          where group_id = ${id}`,
        ...forgetSlottedGroup(id),
        sql`
          delete from groups
          where group_id = ${id}
          and state = 'owned'`,
        // After the group, whose row a transaction locks that lends it.
        sql`
          delete from group_shares
          where group_id = ${id}`,
        ...groupChanged(id, user),
      ])
    },

    async describeGroup({ id, user }: Pick<Group, 'id' | 'user'>, description: string): Promise<void> {
      await database.batch([
        sql`
          update groups
          set description = ${description}
          where group_id = ${id}
          and state = 'owned'`,
        ...groupChanged(id, user),
      ])
    },

    async dateGroups(dated: readonly Pick<Group, 'id' | 'createdAt'>[]): Promise<void> {
      await database.batch(
        dated.map(
          ({ id, createdAt }) => sql`
            update groups
            set created_at = ${createdAt}, dated = 1
            where group_id = ${id}
            and state = 'owned'`,
        ),
      )
    },

    async adoptGroup(
      wanted: Pick<Group, 'id' | 'user' | 'type' | 'name' | 'account' | 'createdAt'>,
    ): Promise<AdoptionFailure | undefined> {
      const { id, user, type, name, account, createdAt } = wanted
      try {
        const [confirmed, added] = await database.batch([
          sql`
            update groups
            set state = 'owned', group_id = ${id}, account = coalesce(${account}, account)
            where state <> 'owned'
            and id = (
              select id
              from groups
              where user_id = ${user}
              and type = ${type}
              and name = ${name}
              and state <> 'owned'
              and renames is null
              and coalesce(group_id, ${id}) = ${id}
              order by case when group_id is null then 1 else 0 end, created_at, id
              limit 1
            )
            returning id`,
          sql`
            insert into groups (id, group_id, user_id, type, name, account, state, created_at)
            select ${randomUUID()}, ${id}, ${user}, ${type}, ${name}, ${account}, 'owned', ${createdAt}
            where not exists (
              select 1
              from groups
              where group_id = ${id}
              and state = 'owned'
            )
            returning id`,
          ...groupChanged(id, user),
        ])
        return confirmed?.length || added?.length ? undefined : 'group taken'
      } catch (error) {
        if (error instanceof UniqueViolationError) return (await group(id)) ? 'group taken' : 'name taken'
        throw error
      }
    },
  }
}
