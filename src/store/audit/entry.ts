import type { AuditAction } from '../../../plugins/shared/audit.ts'

/** An entry of the audit trail, as the gateway writes it. */
export interface NewAuditEntry {
  /** Random. An entry that is written twice is stored once. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly action: AuditAction
  /** Id of the user. */
  readonly user?: string
  /** Name of a user, when the id is unknown. Stored only if the user exists. */
  readonly name?: string
  /** Id of the token that the caller used. */
  readonly token?: string
  /** Kind and id of the object that the action affects. */
  readonly kind?: string
  readonly target?: string
  /** Client address, or `admin`. */
  readonly address?: string
  readonly status?: number
  readonly reason?: string
  /** Names of the fields that were set or changed. */
  readonly fields?: readonly string[]
  /** How often this happened. Above 1, the entry stands for repetitions, of which the first was at `at`. */
  readonly times: number
}

/** An entry of the audit trail, as the store returns it. `name` is the name that the user had at that time. */
export interface AuditEntry extends NewAuditEntry {
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
  ({ ...entry, ...(fields !== undefined && { fields: fields.split(' ') }) }) as unknown as Entry

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
