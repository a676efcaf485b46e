import { auditActions } from '../../shared/audit.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { AuditPageStore, AuditRecord } from '../audit-pages.ts'
import type { PageOf, PageRequest } from '../store.ts'
import type { AdminActor } from './actor.ts'
import { fault, type Input, optional, readReference, readTime, readWord } from './fields.ts'

/** Which entries of the audit trail to list. */
export type AuditQuery = Parameters<AuditPageStore['auditPage']>[0]

/** The operation on the audit trail. It throws Problem. */
export interface AuditOperations {
  list(actor: AdminActor, query: AuditQuery, page: PageRequest): Promise<PageOf<AuditRecord>>
}

export const createAuditOperations = (store: AuditPageStore): AuditOperations => ({
  async list(actor, query, page) {
    const entries = await storeCall(store.auditPage(query, page), 'the audit trail could not be read')
    actor.read('audit')
    return entries
  },
})

/** Fields: `user`, `action`, `since`, `until`. A time is a date and time, or a day, which begins at midnight in UTC. */
export const readAuditQuery = (input: Input): AuditQuery => {
  const since = optional(input, 'since', readInstant)
  const until = optional(input, 'until', readInstant)
  if (since !== undefined && until !== undefined && since > until) throw fault('since', 'since is after until')
  return {
    ...{ user: optional(input, 'user', readReference), action: optional(input, 'action', readWord(auditActions)) },
    ...{ since, until },
  }
}

const readInstant = (value: unknown, field: string): number =>
  readTime(typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00Z` : value, field)
