import { type Statement, sql } from '../database/database.ts'

/**
 * A migration: tokens and sessions of users of a host app, who have no row in `users`. Never change it.
 *
 * SQLite cannot drop a foreign key, so both tables are made again. The old table is renamed first: PostgreSQL then
 * locks it, so that no other process adds a row that is not copied.
 */
export const hostUserTables: readonly Statement[] = [
  sql`alter table tokens rename to old_tokens`,
  // `host_user` is 1 for a user of a host app. Not every user without a row in `users` is one: if someone deletes a row
  // of `users`, its tokens must not work.
  sql`
    create table tokens (
      id text primary key,
      user_id text not null,
      hash text not null unique,
      start text not null,
      label text,
      created_at bigint not null,
      expires_at bigint,
      revoked_at bigint,
      host_user integer not null default 0
    )`,
  sql`
    insert into tokens (id, user_id, hash, start, label, created_at, expires_at, revoked_at)
    select id, user_id, hash, start, label, created_at, expires_at, revoked_at
    from old_tokens`,
  sql`drop table old_tokens`,
  sql`create index tokens_working on tokens (user_id, expires_at) where revoked_at is null`,
  sql`create index tokens_by_revocation on tokens (revoked_at) where revoked_at is not null`,
  sql`create index tokens_by_expiry on tokens (expires_at) where expires_at is not null`,
  sql`create index tokens_by_age on tokens (user_id, created_at)`,
  sql`alter table sessions rename to old_sessions`,
  // `host_user_name` is the name of a user of a host app; null for one of `users`.
  sql`
    create table sessions (
      hash text primary key,
      user_id text not null,
      password_hash text,
      created_at bigint not null,
      idle_until bigint not null,
      ends_at bigint not null,
      host_user_name text
    )`,
  sql`
    insert into sessions (hash, user_id, password_hash, created_at, idle_until, ends_at)
    select hash, user_id, password_hash, created_at, idle_until, ends_at
    from old_sessions`,
  sql`drop table old_sessions`,
  sql`create index sessions_of_user on sessions (user_id)`,
  sql`create index sessions_by_end on sessions (idle_until)`,
  sql`create table disabled_host_users (id text primary key, disabled_at bigint not null)`,
]
