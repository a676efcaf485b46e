import { type Statement, sql } from '../database/database.ts'

/** A migration: the assets of a library that is larger than its slots. Never change it. */
export const slottedAssetTables: readonly Statement[] = [
  // The users may be users of a host app, so `user_id` is no foreign key. The long columns are the last ones: SQLite
  // reads a row up to the columns that a query needs.
  sql`
    create table slotted_assets (
      id text primary key,
      user_id text not null,
      group_id text not null,
      state text not null check (state in ('absent', 'creating', 'present', 'deleting')),
      upstream_id text,
      attempts bigint not null,
      lease_until bigint not null,
      status text not null check (status in ('Processing', 'Active', 'Failed')),
      ready bigint not null,
      created_at bigint not null,
      updated_at bigint not null,
      used_at bigint not null,
      due_at bigint,
      removed_at bigint,
      original text,
      name text not null,
      body text not null,
      item text not null,
      check (state not in ('present', 'deleting') or upstream_id is not null)
    )`,
  sql`create unique index slotted_assets_by_upstream_id on slotted_assets (upstream_id) where upstream_id is not null`,
  sql`create index slotted_assets_of_group on slotted_assets (group_id, created_at, id)`,
  sql`create index slotted_assets_in_slots on slotted_assets (user_id) where state <> 'absent'`,
  sql`create index slotted_assets_by_due on slotted_assets (due_at) where due_at is not null`,
  // The groups whose assets are in the table above. The row without a group is a lock.
  sql`create table slotted_groups (group_id text primary key, turn bigint not null)`,
]
