import { auditActions } from '../../shared/audit.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { AuditPageStore, AuditRecord, AuditVerification } from '../audit-pages.ts'
import { fault, type Input, optional, readInstant, readReference, readWord } from '../fields.ts'
import type { PageOf, PageRequest } from '../store.ts'
import { type AdminActor, readBy } from './actor.ts'

/** Which entries of the audit trail to list. */
export type AuditQuery = Parameters<AuditPageStore['auditPage']>[0]

/** The operation on the audit trail. It throws Problem. */
export interface AuditOperations {
  list(actor: AdminActor, query: AuditQuery, page: PageRequest): Promise<PageOf<AuditRecord>>
  /** Verifies the whole trail, one verification at a time. */
  verify(actor: AdminActor, head: AuditVerification['head'] | undefined): Promise<AuditVerification>
  /** Verifies an exported trail, whose lines are read when its turn has come. */
  verifyExport(
    actor: AdminActor,
    readLines: () => Promise<AsyncIterable<string>>,
    head: AuditVerification['head'] | undefined,
  ): Promise<AuditVerification>
}

export const createAuditOperations = (store: AuditPageStore): AuditOperations => {
  /** A verification reads the whole trail, or a long file. */
  let verifying = false

  /** One verification at a time. */
  const alone = async (actor: AdminActor, verify: () => Promise<AuditVerification>): Promise<AuditVerification> => {
    if (verifying) throw new Problem(409, 'the audit trail is being verified already')
    verifying = true
    try {
      return await readBy(actor, 'audit', verify())
    } finally {
      verifying = false
    }
  }

  return {
    list: async (actor, query, page) => readBy(actor, 'audit', storeCall(store.auditPage(query, page), unavailable)),

    async verify(actor, head) {
      const { verifyAudit } = store
      if (!verifyAudit) throw new Problem(404, 'the audit trail cannot be verified')
      return alone(actor, () => storeCall(verifyAudit.call(store, { head }), unavailable))
    },

    async verifyExport(actor, readLines, head) {
      const { verifyAuditExport } = store
      if (!verifyAuditExport) throw new Problem(404, 'no exported audit trail can be verified')
      return alone(actor, async () => {
        const lines = await readLines()
        return storeCall(verifyAuditExport.call(store, lines, { head }), unavailable)
      })
    },
  }
}

/** The message when the store fails. */
const unavailable = 'the audit trail could not be read'

/** A place in the trail: the number of an entry, a colon and its HMAC. */
export const readHead = (value: unknown, field: string): AuditVerification['head'] => {
  const [, sequence, hmac] = /^(\d{1,15}):([\da-f]{64})$/.exec(String(value)) ?? []
  if (sequence === undefined || hmac === undefined)
    throw fault(field, `${field} must be the number of an entry, a colon and its HMAC`)
  return { sequence: Number(sequence), hmac }
}

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
