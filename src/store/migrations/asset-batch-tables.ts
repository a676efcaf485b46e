import { type Statement, sql } from '../database/database.ts'

/** A migration: batches of assets. Never change it. */
export const assetBatchTables: readonly Statement[] = [
  // `due_at` is null when the batch has ended. The users may be users of a host app, so `user_id` is no foreign key.
  sql`
    create table asset_batches (
      id text primary key,
      user_id text not null,
      token_id text,
      group_id text not null,
      group_type text not null,
      created_at bigint not null,
      cancelled_at bigint,
      ended_at bigint,
      due_at bigint
    )`,
  sql`create index asset_batches_of_user on asset_batches (user_id, id)`,
  sql`create index asset_batches_open on asset_batches (user_id) where ended_at is null`,
  sql`create index asset_batches_by_due on asset_batches (due_at) where due_at is not null`,
  sql`create index asset_batches_by_end on asset_batches (ended_at) where ended_at is not null`,
  // The long columns are the last ones: SQLite reads a row up to the columns that a query needs.
  sql`
    create table asset_batch_items (
      batch_id text not null references asset_batches (id) on delete cascade,
      position bigint not null,
      state text not null check (state in ('waiting', 'sending', 'created', 'failed', 'unknown', 'cancelled')),
      attempts bigint not null,
      claimed_at bigint,
      lease_until bigint,
      asset_id text,
      name text not null,
      error text,
      body text not null,
      primary key (batch_id, position)
    )`,
  sql`create index asset_batch_items_by_state on asset_batch_items (batch_id, state, position)`,
  sql`create unique index one_item_an_asset on asset_batch_items (asset_id) where asset_id is not null`,
]
