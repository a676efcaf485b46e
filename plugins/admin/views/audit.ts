import type { AuditRecord, AuditVerification } from '../audit-pages.ts'
import type { AuditEntryView } from '../docs/schemas.ts'
import type { AuditVerificationView } from '../docs/server-schemas.ts'
import { isoOrNull, isoTime } from './time.ts'

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
