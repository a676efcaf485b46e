import { type Statement, sql } from '../../database/statement.ts'

/** A migration: responses that the gateway keeps, with their items. Never change it. */
export const storedResponseTables: readonly Statement[] = [
  // The users may be users of a host app, so `user_id` is no foreign key; nor is `previous_id`, because the oldest
  // responses are removed first. `response` is the last column: SQLite reads a row up to the columns that a query
  // needs.
  sql`
  create table stored_responses (
    id text primary key,
    user_id text not null,
    previous_id text,
    item_bytes bigint not null,
    bytes bigint not null,
    bytes_before bigint not null,
    created_at bigint not null,
    expires_at bigint not null,
    response text not null
  )`,
  sql`create index stored_responses_of_user on stored_responses (user_id, bytes_before)`,
  sql`create index stored_responses_by_end on stored_responses (expires_at)`,
  sql`
  create table stored_items (
    response_id text not null references stored_responses (id) on delete cascade,
    position bigint not null,
    id text not null,
    user_id text not null,
    is_output integer not null check (is_output in (0, 1)),
    json text not null,
    created_at bigint not null,
    primary key (response_id, position)
  )`,
  sql`create index stored_items_of_user on stored_items (user_id, id, created_at)`,
]

/** A migration: the pieces of large responses. Never change it. */
export const storedPieceTables: readonly Statement[] = [
  // The texts of large responses. `item` is the position of an item, or -1 for the response object; the row of the text
  // has `long_bytes`, and no text.
  sql`
    create table stored_pieces (
      response_id text not null references stored_responses (id) on delete cascade,
      item bigint not null,
      position bigint not null,
      piece text not null,
      primary key (response_id, item, position)
    )`,
  sql`alter table stored_responses add column long_bytes bigint`,
  sql`alter table stored_items add column long_bytes bigint`,
]
