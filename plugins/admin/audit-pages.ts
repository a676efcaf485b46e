import type { AuditAction, AuditEvent } from '../shared/audit.ts'
import type { PageOf, PageRequest } from './store.ts'

/** An entry of the audit trail, as operators see it: an event, with who caused it. `name`: the user's, at that time. */
export interface AuditRecord extends Omit<AuditEvent, 'target'> {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** Kind and id of the object that the action affects. */
  readonly kind?: string
  readonly target?: string
  /** Client address; `admin` for the command line. */
  readonly address?: string
  /** How often this happened. Above 1, `at` is the time of the first. */
  readonly times: number
}

/** What a verification of the audit trail has found. */
export interface AuditVerification {
  /** The first problems, as sentences. Empty: the trail is intact. */
  readonly problems: readonly string[]
  /** Number of entries whose HMAC fits. */
  readonly verified: number
  /** Number of the first entry. Undefined: there is none. */
  readonly first?: number
  /** The last entry. Kept elsewhere, it lets a later verification notice that the end was cut off. */
  readonly head: { readonly sequence: number; readonly hmac: string }
  /** Number of the last entry that was removed for its age; 0: none was. */
  readonly removed: number
  /** Entries of earlier versions, which have no HMAC. */
  readonly unchained: { readonly entries: number; readonly newestAt?: number }
  /** Which entries each key has signed, the current key first. */
  readonly keys: readonly { readonly key: string; readonly first: number; readonly last: number }[]
}

/** The store port of the audit trail. */
export interface AuditPageStore {
  /**
   * Verifies the whole trail. `head` is one of an earlier verification, which must still be in it. Default: the trail
   * cannot be verified.
   */
  verifyAudit?(options: { readonly head?: AuditVerification['head'] | undefined }): Promise<AuditVerification>
  /**
   * Verifies the lines of an exported trail, such as `admin audit` prints, with the keys of the store. `head`: as
   * above. Default: none can be verified.
   */
  verifyAuditExport?(
    lines: AsyncIterable<string>,
    options: { readonly head?: AuditVerification['head'] | undefined },
  ): Promise<AuditVerification>
  /**
   * Lists entries, newest first. `user` is an id. Times are milliseconds since 1970; `since` is inclusive, `until`
   * exclusive. Undefined members do not filter.
   */
  auditPage(
    filter: {
      readonly user?: string | undefined
      readonly action?: AuditAction | undefined
      readonly since?: number | undefined
      readonly until?: number | undefined
    },
    page: PageRequest,
  ): Promise<PageOf<AuditRecord>>
}
