import { type Statement, sql } from '../../database/statement.ts'

/** A migration: files. Never change it. The users may be users of a host app, so `user_id` is no foreign key. */
export const fileTables: readonly Statement[] = [
  sql`
    create table files (
      key text primary key,
      user_id text not null,
      kind text not null check (kind in ('upload', 'result')),
      bytes bigint not null,
      created_at bigint not null,
      expires_at bigint not null
    )`,
  sql`create index files_of_user on files (user_id, kind, expires_at)`,
  sql`create index files_by_end on files (expires_at)`,
]
