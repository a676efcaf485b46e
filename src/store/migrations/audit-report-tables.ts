import { type Statement, sql } from '../database/database.ts'

/** A migration: the fields of a change in the audit trail, and pages of the trail. Never change it. */
export const auditReportTables: readonly Statement[] = [
  // Names, separated by spaces.
  sql`alter table audit_entries add column fields text`,
  sql`create index audit_entries_of_user on audit_entries (user_id, at, id) where user_id is not null`,
  sql`create index audit_entries_of_action on audit_entries (action, at, id)`,
]
