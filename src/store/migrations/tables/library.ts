import { type Statement, sql } from '../../database/statement.ts'

/** A migration: which assets the video tasks use. Never change it. */
export const assetUseTables: readonly Statement[] = [
  // The upstream never moves an asset to another group (vendor page 2318277).
  sql`
    create table video_asset_uses (
      task_id text not null references video_tasks (id) on delete cascade,
      asset_id text not null,
      user_id text not null,
      group_id text,
      primary key (task_id, asset_id)
    )`,
  sql`create index video_asset_uses_of_asset on video_asset_uses (asset_id, user_id, task_id)`,
  sql`create index video_asset_uses_of_group on video_asset_uses (group_id, user_id, task_id)`,
]

/** A migration: pictures that are assets, and video tasks that wait for such assets. Never change it. */
export const pictureTables: readonly Statement[] = [
  // `asset_id` is null while the asset is made. The users may be users of a host app, so `user_id` is no foreign key.
  sql`
    create table registered_pictures (
      user_id text not null,
      digest text not null,
      group_id text not null,
      asset_id text,
      claimed_at bigint not null,
      lease_until bigint not null,
      primary key (user_id, digest)
    )`,
  sql`create index registered_pictures_of_group on registered_pictures (group_id)`,
]

/** A migration: groups that are lent. Never change it. */
export const shareTables: readonly Statement[] = [
  // The users may be users of a host app, and the groups are the upstream's, so there are no foreign keys.
  sql`
    create table group_shares (
      id text primary key,
      group_id text not null,
      owner_id text not null,
      borrower_kind text not null check (borrower_kind in ('user', 'team')),
      borrower_id text not null,
      access text not null check (access in ('read', 'use')),
      created_at bigint not null,
      expires_at bigint,
      used_at bigint
    )`,
  sql`create unique index one_share_a_borrower on group_shares (group_id, borrower_kind, borrower_id)`,
  sql`create index group_shares_of_borrower on group_shares (borrower_kind, borrower_id)`,
  sql`create index group_shares_of_owner on group_shares (owner_id)`,
]

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

/** A migration: the accounts of groups and of face verifications. Never change it. */
export const accountColumns: readonly Statement[] = [
  // Null: the first account, or the only one.
  sql`alter table groups add column account text`,
  sql`alter table face_verifications add column account text`,
]

/** A migration: when failed items of a batch were last tried again. Never change it. */
export const batchRetries: readonly Statement[] = [sql`alter table asset_batches add column retried_at bigint`]

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
  sql`create index slotted_assets_present on slotted_assets (used_at) where state = 'present'`,
  sql`create index slotted_assets_by_due on slotted_assets (due_at) where due_at is not null`,
  // The groups whose assets are in the table above. The row without a group is a lock.
  sql`create table slotted_groups (group_id text primary key, turn bigint not null)`,
]

/**
 * A migration: the accounts of assets with slots, so that each of several accounts has its own. Empty: the first
 * account, or the only one, which is that of all rows from before. Never change it.
 */
export const slotAccountColumns: readonly Statement[] = [
  sql`alter table slotted_assets add column account text not null default ''`,
  sql`alter table person_slots add column account text not null default ''`,
  sql`alter table slot_waits add column account text not null default ''`,
  sql`drop index slotted_assets_by_upstream_id`,
  sql`drop index slotted_assets_in_slots`,
  sql`drop index slotted_assets_present`,
  sql`drop index slotted_assets_by_due`,
  // Two accounts may have assets with the same id.
  sql`
    create unique index slotted_assets_by_upstream_id on slotted_assets (upstream_id, account)
    where upstream_id is not null`,
  sql`create index slotted_assets_in_slots on slotted_assets (account, user_id) where state <> 'absent'`,
  sql`create index slotted_assets_present on slotted_assets (account, used_at) where state = 'present'`,
  sql`create index slotted_assets_by_due on slotted_assets (account, due_at) where due_at is not null`,
  // The users with groups on an account, one after the other. No other query has its condition, which is always true.
  sql`
    create index groups_by_account on groups (coalesce(account, ''), user_id)
    where state <> 'unresolved' and user_id > ''`,
]

/** A migration: the name of the first account, which has the groups whose record names none. Never change it. */
export const firstAccountTable: readonly Statement[] = [
  sql`create table first_account (id integer primary key check (id = 1), name text not null)`,
]

/** A migration: slots of assets of persons that are being created. Never change it. */
export const personSlotTables: readonly Statement[] = [
  // The users may be users of a host app, so `user_id` is no foreign key. Of what is created, `assets` has a row.
  sql`create table person_slots (id text primary key, user_id text not null, expires_at bigint not null)`,
]

/**
 * A migration: which requests use, or wait for, assets of a library that is larger than its slots. Never change it.
 */
export const slotUseTables: readonly Statement[] = [
  sql`
    create table asset_uses (
      id text not null,
      asset_id text not null,
      user_id text not null,
      waiting bigint not null,
      lease_until bigint not null,
      primary key (id, asset_id)
    )`,
  sql`create index asset_uses_of_asset on asset_uses (asset_id)`,
  sql`create index asset_uses_by_lease on asset_uses (lease_until)`,
  // Video tasks and requests for which there was no slot.
  sql`
    create table slot_waits (
      id text primary key,
      user_id text not null,
      lease_until bigint not null
    )`,
  sql`create index slot_waits_by_lease on slot_waits (lease_until)`,
]

/** A migration: the batches of all users that have not ended, for operators. Never change it. */
export const runningBatchIndexes: readonly Statement[] = [
  sql`create index asset_batches_running on asset_batches (id) where ended_at is null`,
]

/** A migration: when an asset of an account last lost its slot to another one. Never change it. */
export const slotEvictionTables: readonly Statement[] = [
  sql`create table slot_evictions (account text primary key, evicted_at bigint not null)`,
]

/** A migration: how many slots an account has, where its upstream says so. Never change it. */
export const slotLimitTables: readonly Statement[] = [
  sql`create table slot_limits (account text primary key, slots bigint not null)`,
]

/** A migration: assets that the upstream processes. Never change it. */
export const assetWatchTables: readonly Statement[] = [
  // The users may be users of a host app, so `user_id` is no foreign key.
  sql`
    create table asset_watches (
      asset_id text primary key,
      group_id text not null,
      user_id text not null,
      created_at bigint not null,
      due_at bigint not null,
      polls bigint not null
    )`,
  sql`create index asset_watches_by_due on asset_watches (due_at)`,
]
