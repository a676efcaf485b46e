import { type Statement, sql } from '../../database/statement.ts'

/** A migration: events, webhooks and deliveries. Never change it once it is released. */
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
  // `types` are the types of events, each between two spaces; null: all. `failing_since` is the first failure after the
  // last success, and `failures` counts those since then. `due_at` is when the next delivery may be sent; null: none
  // waits.
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
      disabled_at bigint,
      due_at bigint,
      lease_until bigint not null,
      lease_id text
    )`,
  sql`create index webhooks_of_user on webhooks (user_id, created_at)`,
  sql`create index webhooks_by_due on webhooks (due_at) where due_at is not null`,
  sql`create index webhooks_leased on webhooks (lease_until) where lease_id is not null`,
  // Events that wait for a webhook. Without foreign keys: a transaction with an event must not fail because a webhook
  // is deleted at that moment.
  sql`
    create table deliveries (
      webhook_id text not null,
      event_sequence bigint not null,
      created_at bigint not null,
      due_at bigint not null,
      attempts bigint not null,
      primary key (webhook_id, event_sequence)
    )`,
  sql`create index deliveries_by_age on deliveries (created_at)`,
  // The newest state of an object, for an address that the caller has given for it.
  sql`
    create table callbacks (
      id text primary key,
      sequence bigint not null,
      user_id text not null,
      url text not null,
      subject text not null,
      body text not null,
      created_at bigint not null,
      due_at bigint not null,
      lease_until bigint not null,
      lease_id text,
      attempts bigint not null
    )`,
  sql`create index callbacks_by_due on callbacks (due_at)`,
  sql`create index callbacks_of_subject on callbacks (subject, sequence)`,
  sql`create index callbacks_leased on callbacks (lease_until) where lease_id is not null`,
  // One row: a process updates it before it leases deliveries, so that no two choose at once.
  sql`create table delivery_turns (id integer primary key check (id = 1), turn bigint not null)`,
  sql`insert into delivery_turns (id, turn) values (1, 0)`,
]

/** A migration: the callbacks of a user that are due, from one user to the next. Never change it. */
export const callbackIndexes: readonly Statement[] = [
  sql`create index callbacks_of_user_by_due on callbacks (user_id, due_at)`,
]
