import type { AuditRecord } from '../../../plugins/admin/audit-pages.ts'
import type { AuditAction } from '../../../plugins/shared/audit.ts'

/**
 * An entry of the audit trail, as the gateway writes it. Its id is random: an entry that is written twice is stored
 * once. A `name` without a `user` is stored only if there is such a user.
 */
export type NewAuditEntry = AuditRecord

/** An entry of the audit trail, as the store returns it. */
export interface AuditEntry extends AuditRecord {
  /** Its number in the chain, from 1, without gaps. Undefined: an earlier version has written the entry. */
  readonly sequence?: number
  /** HMAC over the entry and the one before, in hex. */
  readonly hmac?: string
  /** HMAC of the entry before; empty for the first. Undefined when that entry is missing. */
  readonly previous?: string
}

/** An entry as its row has it. */
export type AuditRow<Entry extends Partial<AuditEntry> = AuditEntry> = Omit<Entry, 'fields'> & {
  /** Names, separated by spaces. */
  readonly fields?: string
}

export const fromRow = <Entry extends Partial<AuditEntry> = AuditEntry>({ fields, ...entry }: AuditRow<Entry>): Entry =>
  ({ ...entry, ...(fields !== undefined && { fields: namesIn(fields) }) }) as unknown as Entry

/** An empty text is an empty list, as the entry was signed. */
const namesIn = (fields: string): readonly string[] => (fields === '' ? [] : fields.split(' '))

/** The place of an entry in the order of time. */
export type AuditPosition = Pick<AuditEntry, 'at' | 'id'>

/** Which entries of the audit trail to list. */
export interface AuditFilter {
  /** Name of a user; or the id, for users of a host app. */
  readonly user?: string
  readonly action?: AuditAction
  /** Milliseconds since 1970, inclusive. */
  readonly since?: number
  /** Milliseconds since 1970, exclusive. */
  readonly until?: number
}
