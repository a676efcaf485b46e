import { type Statement, sql } from '../database/database.ts'

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
