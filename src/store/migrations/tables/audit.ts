import { type Statement, sql } from '../../database/statement.ts'

/** A migration: the fields of a change in the audit trail, and pages of the trail. Never change it. */
export const auditReportTables: readonly Statement[] = [
  // Names, separated by spaces.
  sql`alter table audit_entries add column fields text`,
  sql`create index audit_entries_of_user on audit_entries (user_id, at, id) where user_id is not null`,
  sql`create index audit_entries_of_action on audit_entries (action, at, id)`,
]

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
