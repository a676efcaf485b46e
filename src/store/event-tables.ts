import { type Statement, sql } from './database.ts'

/** A migration: events, webhooks and deliveries. Never change it. */
export const eventTables: readonly Statement[] = [
  // One row: the number of the newest event. The users may be users of a host app, so `user_id` is no foreign key.
  sql`create table event_sequence (id integer primary key check (id = 1), value bigint not null)`,
  sql`insert into event_sequence (id, value) values (1, 0)`,
  sql`
    create table events (
      sequence bigint primary key,
      id text not null unique,
      user_id text not null,
      type text not null,
      data text not null,
      at bigint not null
    )`,
  sql`create index events_of_user on events (user_id, sequence)`,
  sql`create index events_by_time on events (at)`,
  // `types` are the types of events, each between two spaces; null: all. `failing_since` is the first failure after the last success.
  sql`
    create table webhooks (
      id text primary key,
      user_id text not null,
      url text not null,
      types text,
      secret text not null,
      created_at bigint not null,
      delivered_at bigint,
      failing_since bigint,
      failures bigint not null,
      paused_until bigint not null,
      last_error text,
      disabled_at bigint
    )`,
  sql`create index webhooks_of_user on webhooks (user_id, created_at)`,
  // Either an event for a webhook, or the state of an object (`subject`) for an address of its own.
  sql`
    create table deliveries (
      id text primary key,
      sequence bigint not null,
      user_id text not null,
      webhook_id text references webhooks (id) on delete cascade,
      event_sequence bigint references events (sequence) on delete cascade,
      url text,
      subject text,
      body text,
      created_at bigint not null,
      due_at bigint not null,
      lease_until bigint not null,
      lease_id text,
      attempts bigint not null,
      check (webhook_id is null or event_sequence is not null),
      check (webhook_id is not null or (url is not null and subject is not null and body is not null))
    )`,
  sql`create index deliveries_by_due on deliveries (due_at)`,
  sql`create index deliveries_of_webhook on deliveries (webhook_id, sequence)`,
  sql`create index deliveries_of_event on deliveries (event_sequence)`,
  sql`create index deliveries_of_subject on deliveries (subject, sequence) where subject is not null`,
  sql`create index deliveries_leased on deliveries (user_id, lease_until) where lease_until > 0`,
  // One row: a process updates it before it leases deliveries, so that no two choose at once.
  sql`create table delivery_turns (id integer primary key check (id = 1), turn bigint not null)`,
  sql`insert into delivery_turns (id, turn) values (1, 0)`,
]
