import type { AuditAction } from '../../shared/audit.ts'
import type { AuditRecord, AuditVerification } from '../audit-pages.ts'
import { isoOrNull, isoTime } from './time.ts'

/** An entry of the audit trail. */
export interface AuditEntryView {
  readonly id: string
  readonly at: string
  readonly action: AuditAction
  /** Id of the user who did it; for the command line, of the user whom it affects. */
  readonly user: string | null
  readonly user_name: string | null
  /** Id of the token that the user used. */
  readonly token: string | null
  /** Kind and id of the object that the action affects. */
  readonly kind: string | null
  readonly target: string | null
  /** Client address; `admin` for the command line. */
  readonly address: string | null
  readonly status: number | null
  readonly reason: string | null
  /** Names of the fields that were set or changed. */
  readonly fields: readonly string[] | null
  readonly times: number
}

/** What a verification of the audit trail has found. */
export interface AuditVerificationView {
  /** Empty: the trail is intact. */
  readonly problems: readonly string[]
  readonly verified: number
  readonly first: number | null
  /** To be kept elsewhere: `NUMBER:HMAC` of the last entry. */
  readonly head: string
  readonly removed: number
  readonly without_hmac: number
  readonly newest_without_hmac: string | null
  readonly keys: AuditVerification['keys']
}

export const toAuditEntryView = (entry: AuditRecord): AuditEntryView => ({
  id: entry.id,
  at: isoTime(entry.at),
  action: entry.action,
  user: entry.user ?? null,
  user_name: entry.name ?? null,
  token: entry.token ?? null,
  kind: entry.kind ?? null,
  target: entry.target ?? null,
  address: entry.address ?? null,
  status: entry.status ?? null,
  reason: entry.reason ?? null,
  fields: entry.fields ?? null,
  times: entry.times,
})

export const toVerificationView = (found: AuditVerification): AuditVerificationView => ({
  problems: found.problems,
  verified: found.verified,
  first: found.first ?? null,
  head: `${found.head.sequence}:${found.head.hmac}`,
  removed: found.removed,
  without_hmac: found.unchained.entries,
  newest_without_hmac: isoOrNull(found.unchained.newestAt),
  keys: found.keys,
})
