import { fragment, onlyOn, type Statement, sql } from '../database/statement.ts'

/*
 * How many groups and assets each user has, by account: a limit of everybody together on 10,000,000 assets would have
 * to read all of them.
 *
 * Triggers keep the counts, in the transaction that changes what they count, because every writer has to: also one of
 * an earlier version, which goes on while processes are restarted one after another. The two databases have no common
 * form of triggers.
 *
 * Creations of one user wait for each other's commit, those of different users do not.
 */

const change = fragment`
  old.state <> new.state
  or old.user_id <> new.user_id
  or coalesce(old.account, '') <> coalesce(new.account, '')
  or coalesce(old.group_id, '') <> coalesce(new.group_id, '')`

const columns = fragment`state, user_id, account, group_id`

const insertedGroup = fragment`after insert on groups for each row when (new.state = 'owned')`
const deletedGroup = fragment`after delete on groups for each row when (old.state = 'owned')`
const groupBefore = fragment`after update of ${columns} on groups for each row when (old.state = 'owned' and (${change}))`
const groupAfter = fragment`after update of ${columns} on groups for each row when (new.state = 'owned' and (${change}))`

const addGroup = fragment`
  insert into library_counts (user_id, account, groups, assets)
  values (
    new.user_id, coalesce(new.account, ''), 1,
    (select count(*) from assets where assets.group_id = new.group_id and assets.deleted_at is null)
  )
  on conflict (user_id, account) do update
  set groups = library_counts.groups + 1, assets = library_counts.assets + excluded.assets;`

const removeGroup = fragment`
  update library_counts
  set groups = groups - 1,
    assets = assets - (
      select count(*) from assets where assets.group_id = old.group_id and assets.deleted_at is null
    )
  where user_id = old.user_id
  and account = coalesce(old.account, '');`

const addAsset = fragment`
  update library_counts
  set assets = assets + 1
  where (user_id, account) = (
    select user_id, coalesce(account, '') from groups where group_id = new.group_id and state = 'owned'
  );`

const removeAsset = fragment`
  update library_counts
  set assets = assets - 1
  where (user_id, account) = (
    select user_id, coalesce(account, '') from groups where group_id = old.group_id and state = 'owned'
  );`

const triggersOnSqlite: readonly Statement[] = [
  sql`create trigger inserted_group_counts ${insertedGroup} begin ${addGroup} end`,
  sql`create trigger deleted_group_counts ${deletedGroup} begin ${removeGroup} end`,
  sql`create trigger group_before_counts ${groupBefore} begin ${removeGroup} end`,
  sql`create trigger group_after_counts ${groupAfter} begin ${addGroup} end`,
  sql`
    create trigger inserted_asset_counts after insert on assets for each row when (new.deleted_at is null)
    begin ${addAsset} end`,
  sql`
    create trigger deleted_asset_counts after delete on assets for each row when (old.deleted_at is null)
    begin ${removeAsset} end`,
  sql`
    create trigger asset_before_counts after update on assets for each row when (old.deleted_at is null)
    begin ${removeAsset} end`,
  sql`
    create trigger asset_after_counts after update on assets for each row when (new.deleted_at is null)
    begin ${addAsset} end`,
]

/**
 * Of a group and its assets, one transaction at a time changes what counts, in the order of these locks. Otherwise one
 * that removes a group would not see the assets that others are adding. The lock has the id and not the row, because a
 * group that gets an owner has none before.
 *
 * Assets are counted once for a statement: a transaction that changes a row 10,000 times leaves 10,000 versions of it,
 * and goes through them each time.
 */
const triggersOnPostgres: readonly Statement[] = [
  sql`
    create function lock_counted_group(id text) returns void language sql as
    $$ select pg_advisory_xact_lock(hashtextextended(id, 5)) $$`,
  sql`
    create function count_group_after() returns trigger language plpgsql as $$
    begin
      perform lock_counted_group(new.group_id);
      ${addGroup}
      return null;
    end $$`,
  sql`
    create function count_group_before() returns trigger language plpgsql as $$
    begin
      perform lock_counted_group(old.group_id);
      ${removeGroup}
      return null;
    end $$`,
  sql`
    create function change_asset_count(changed text, added bigint) returns void language plpgsql as $$
    begin
      perform lock_counted_group(changed);
      update library_counts
      set assets = assets + added
      where (user_id, account) = (
        select user_id, coalesce(account, '') from groups where group_id = changed and state = 'owned'
      );
    end $$`,
  sql`
    create function count_assets() returns trigger language plpgsql as $$
    declare
      counted record;
    begin
      if tg_op <> 'INSERT' then
        for counted in
          select group_id, count(*) as assets from assets_before where deleted_at is null group by group_id order by group_id
        loop
          perform change_asset_count(counted.group_id, -counted.assets);
        end loop;
      end if;
      if tg_op <> 'DELETE' then
        for counted in
          select group_id, count(*) as assets from assets_after where deleted_at is null group by group_id order by group_id
        loop
          perform change_asset_count(counted.group_id, counted.assets);
        end loop;
      end if;
      return null;
    end $$`,
  sql`create trigger inserted_group_counts ${insertedGroup} execute function count_group_after()`,
  sql`create trigger deleted_group_counts ${deletedGroup} execute function count_group_before()`,
  sql`create trigger group_before_counts ${groupBefore} execute function count_group_before()`,
  sql`create trigger group_after_counts ${groupAfter} execute function count_group_after()`,
  sql`
    create trigger inserted_asset_counts after insert on assets referencing new table as assets_after
    for each statement execute function count_assets()`,
  sql`
    create trigger deleted_asset_counts after delete on assets referencing old table as assets_before
    for each statement execute function count_assets()`,
  sql`
    create trigger updated_asset_counts after update on assets
    referencing old table as assets_before new table as assets_after
    for each statement execute function count_assets()`,
]

/** Counts what there is. On PostgreSQL, the triggers have locked the tables. */
export const countLibrary: Statement = sql`
  insert into library_counts (user_id, account, groups, assets)
  select user_id, coalesce(account, ''), count(*), coalesce(sum(in_group.assets), 0)
  from groups
  left join (
    select group_id, count(*) as assets
    from assets
    where deleted_at is null
    group by group_id
  ) in_group on in_group.group_id = groups.group_id
  where state = 'owned'
  group by user_id, coalesce(account, '')`

/** A migration. Never change it. The users may be users of a host app, so `user_id` is no foreign key. */
export const libraryCountTables: readonly Statement[] = [
  sql`
    create table library_counts (
      user_id text not null,
      account text not null,
      groups bigint not null,
      assets bigint not null,
      primary key (user_id, account)
    )`,
  ...triggersOnSqlite.map((statement) => onlyOn('sqlite', statement)),
  ...triggersOnPostgres.map((statement) => onlyOn('postgres', statement)),
  countLibrary,
]
