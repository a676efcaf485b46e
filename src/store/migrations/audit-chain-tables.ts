import { type Statement, sql } from '../database/database.ts'

/** A migration: the chain of the audit trail. Entries of earlier versions are not in it. Never change it. */
export const auditChainTables: readonly Statement[] = [
  sql`alter table audit_entries add column sequence bigint`,
  sql`alter table audit_entries add column hmac text`,
  sql`create unique index audit_entries_by_sequence on audit_entries (sequence) where sequence is not null`,
  sql`create index audit_entries_unchained on audit_entries (at, id) where sequence is null`,
  // `head` is the newest entry of the chain; `anchor` is the newest one that was removed for its age, with the number
  // of removed entries that were damaged, and an HMAC over all that.
  sql`
    create table audit_chain (
      name text primary key check (name in ('head', 'anchor')),
      sequence bigint not null,
      hmac text not null,
      damaged bigint not null,
      signature text
    )`,
  sql`insert into audit_chain (name, sequence, hmac, damaged) values ('head', 0, '', 0), ('anchor', 0, '', 0)`,
]
