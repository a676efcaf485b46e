import { randomUUID } from 'node:crypto'
import { nameKey } from '../../../../plugins/shared/identity/name-key.ts'
import type { Steps } from '../../database/database.ts'
import { type Statement, sql } from '../../database/statement.ts'

/**
 * A migration: roles, teams, service users, limits, scopes and models of tokens, rotation, invitations, logins of an
 * identity provider, and what sessions show. Never change it.
 */
export function* peopleTables(): Steps {
  for (const statement of tables) yield statement
  yield* addNameKeys()
  for (const statement of nameIndexes) yield statement
  yield* addSessionIds()
  yield sql`create unique index sessions_by_id on sessions (id)`
}

const tables: readonly Statement[] = [
  sql`
    create table teams (
      id text primary key,
      name text not null,
      name_key text not null unique,
      limits text,
      created_at bigint not null
    )`,
  sql`create index teams_by_age on teams (created_at, id)`,
  sql`alter table users add column role text not null default 'user' check (role in ('user', 'admin'))`,
  sql`alter table users add column team_id text references teams (id)`,
  sql`alter table users add column service integer not null default 0 check (service in (0, 1))`,
  sql`alter table users add column external_id text`,
  // A JSON list. Null: the limits of every user without a list.
  sql`alter table users add column limits text`,
  sql`alter table users add column last_active_at bigint`,
  // Of the identity provider (OpenID Connect Core 1.0 section 2).
  sql`alter table users add column issuer text`,
  sql`alter table users add column subject text`,
  // Names are compared by `name_key`. Those of older versions may differ in case only: `name_shared` is 1 for all but
  // the oldest user of a key.
  sql`alter table users add column name_key text`,
  sql`alter table users add column name_shared integer not null default 0 check (name_shared in (0, 1))`,
  sql`create unique index users_by_external_id on users (external_id) where external_id is not null`,
  sql`create unique index users_by_subject on users (issuer, subject) where subject is not null`,
  sql`create index users_by_age on users (created_at, id)`,
  sql`create index users_of_team on users (team_id, created_at, id) where team_id is not null`,
  sql`create index admins_by_age on users (created_at, id) where role = 'admin'`,
  sql`create index disabled_users_by_age on users (created_at, id) where disabled_at is not null`,
  // The parts of three characters of each `name_key`, for the search by a part of the name.
  sql`create table user_name_parts (part text not null, user_id text not null, primary key (part, user_id))`,
  sql`create index user_name_parts_of_user on user_name_parts (user_id)`,
  sql`alter table tokens add column scopes text not null default 'media text video'`,
  // JSON lists. Null: all models, no limits.
  sql`alter table tokens add column models text`,
  sql`alter table tokens add column limits text`,
  sql`alter table tokens add column last_used_at bigint`,
  // The hash before a rotation is valid until `old_until`.
  sql`alter table tokens add column old_hash text`,
  sql`alter table tokens add column old_until bigint`,
  sql`create unique index tokens_by_old_hash on tokens (old_hash) where old_hash is not null`,
  // A session has an id that may be shown; its hash is never shown.
  sql`alter table sessions add column id text`,
  sql`alter table sessions add column last_used_at bigint`,
  sql`alter table sessions add column user_agent text`,
  // One for each user: a new one ends the old one.
  sql`
    create table invitations (
      user_id text primary key references users (id),
      hash text not null unique,
      created_at bigint not null,
      expires_at bigint not null
    )`,
]

const nameIndexes: readonly Statement[] = [
  sql`
    update users
    set name_shared = 1
    where exists (
      select 1
      from users older
      where older.name_key = users.name_key
      and (older.created_at < users.created_at or (older.created_at = users.created_at and older.id < users.id))
    )`,
  sql`create unique index one_user_a_name_key on users (name_key) where name_shared = 0`,
  sql`
    with recursive numbers (number) as (
      select 1
      union all
      select number + 1
      from numbers
      where number < 254
    )
    insert into user_name_parts (part, user_id)
    select distinct substr(users.name_key, numbers.number, 3), users.id
    from users
    join numbers on numbers.number <= length(users.name_key) - 2`,
]

const pageSize = 500

/** The key is computed here: the databases do not agree on the lower case of letters. */
function* addNameKeys(): Steps {
  // Right for most names, and without a statement for each.
  yield sql`update users set name_key = lower(name)`
  yield sql`create index users_by_name_key on users (name_key)`
  let after = ''
  for (;;) {
    const users = yield sql`
      select id, name, name_key
      from users
      where id > ${after}
      order by id
      limit ${pageSize}`
    for (const { id, name, name_key } of users) {
      const key = nameKey(String(name))
      if (key !== name_key) yield sql`update users set name_key = ${key} where id = ${id}`
      after = String(id)
    }
    if (users.length < pageSize) return
  }
}

function* addSessionIds(): Steps {
  const sessions = yield sql`select hash from sessions`
  for (const { hash } of sessions) yield sql`update sessions set id = ${randomUUID()} where hash = ${hash}`
}

/** A migration: lists of users, teams and tokens that cost the same with 100,000 entries. Never change it. */
export const peopleIndexes: readonly Statement[] = [
  // With the id, so that the search by a short part of a name reads no users that do not match.
  sql`create index users_by_name on users (name_key, id)`,
  sql`drop index users_by_name_key`,
  sql`create index tokens_of_user on tokens (user_id, created_at, id)`,
  sql`drop index tokens_by_age`,
  // Counting the users of a team would take longer with each of them.
  sql`alter table teams add column members bigint not null default 0`,
  sql`
    update teams
    set members = (
      select count(*)
      from users
      where users.team_id = teams.id
    )`,
]

/** A migration: the list of the tokens of all users, with the search by a part of the label. Never change it. */
export function* tokenListIndexes(): Steps {
  // Labels are compared by it. Null: no label, or a token of an older version that runs at the same time.
  yield sql`alter table tokens add column label_key text`
  yield* addLabelKeys()
  for (const statement of indexes) yield statement
}

const indexes: readonly Statement[] = [
  sql`create index tokens_by_age on tokens (created_at, id)`,
  sql`create index revoked_tokens_by_age on tokens (created_at, id) where revoked_at is not null`,
]

const labelsAtOnce = 500

/** The key is computed here: the databases do not agree on the lower case of letters. */
function* addLabelKeys(): Steps {
  // Right for most labels, and without a statement for each.
  yield sql`update tokens set label_key = lower(label)`
  let after = ''
  for (;;) {
    const tokens = yield sql`
      select id, label, label_key
      from tokens
      where id > ${after}
      order by id
      limit ${labelsAtOnce}`
    for (const { id, label, label_key } of tokens) {
      const key = typeof label === 'string' ? nameKey(label) : label_key
      if (key !== label_key) yield sql`update tokens set label_key = ${key} where id = ${id}`
      after = String(id)
    }
    if (tokens.length < labelsAtOnce) return
  }
}

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
