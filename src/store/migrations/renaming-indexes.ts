import { type Statement, sql } from '../database/database.ts'

/** A migration: one open claim renames a group at a time. Never change it. */
export const renamingIndexes: readonly Statement[] = [
  // Of several that are open, the newest one bars others. With a group id, the index leaves out the older ones.
  sql`
    update groups
    set group_id = renames
    where renames is not null
    and group_id is null
    and exists (
      select 1
      from groups newer
      where newer.renames = groups.renames
      and newer.group_id is null
      and (newer.created_at, newer.id) > (groups.created_at, groups.id)
    )`,
  sql`create unique index one_renaming_a_group on groups (renames) where group_id is null`,
]
