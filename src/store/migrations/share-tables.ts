import { type Statement, sql } from '../database/database.ts'

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
