import type { AuditPageStore } from '../../../plugins/admin/audit-pages.ts'
import type { Database } from '../database/database.ts'
import { clause, fragment, type Statement, sql } from '../database/statement.ts'
import { type AuditEntry, type AuditFilter, type AuditPosition, type AuditRow, fromRow } from './entry.ts'

/** The lists of the audit trail. */
export interface AuditLists extends AuditPageStore {
  /** One page, oldest first: at most `max` entries, default 1,000, that follow the entry `after`. */
  listAudit(filter?: AuditFilter, after?: AuditPosition, max?: number): Promise<readonly AuditEntry[]>
  /**
   * One page of the chain, in the order of its numbers: at most `max` entries, default 1,000, with a number above
   * `sequence`.
   */
  chainedAudit(sequence: number, max?: number): Promise<readonly AuditEntry[]>
  /** One page of the entries that are not in the chain, oldest first. As `listAudit` without a filter. */
  unchainedAudit(after?: AuditPosition, max?: number): Promise<readonly AuditEntry[]>
}

const defaultMax = 1_000

const selectRecord = fragment`
  select id, at, action, user_id as "user", user_name as name, token_id as token, kind, target, address, status, reason,
    fields, times
  from audit_entries`

/** With the place in the chain. `previous` is the HMAC of the entry before, or what the anchor has kept of it. */
const selectEntry = fragment`
  select id, at, action, user_id as "user", user_name as name, token_id as token, kind, target, address, status, reason,
    fields, times, sequence, hmac, coalesce(
      (select earlier.hmac from audit_entries earlier where earlier.sequence = audit_entries.sequence - 1),
      (select hmac from audit_chain where name = 'anchor' and audit_chain.sequence = audit_entries.sequence - 1)
    ) as previous
  from audit_entries`

export const createAuditLists = (database: Database): AuditLists => {
  const list = async (statement: Statement): Promise<readonly AuditEntry[]> =>
    (await database.query<AuditRow>(statement)).map((row) => fromRow(row))

  return {
    async listAudit(
      { user, action, since = 0, until = Number.MAX_SAFE_INTEGER } = {},
      after = { at: since, id: '' },
      max = defaultMax,
    ) {
      return list(sql`
        ${selectEntry}
        where (at, id) > (${after.at}, ${after.id})
        and at < ${until}
        and (cast(${user} as text) is null or user_name = ${user} or user_id = ${user})
        and (cast(${action} as text) is null or action = ${action})
        order by at, id
        limit ${max}`)
    },

    async auditPage({ user, action, since = 0, until = Number.MAX_SAFE_INTEGER }, { limit, after }) {
      const found = await list(
        clause`
          ${selectRecord}
          where (at, id) < (${Number(after?.key ?? until)}, ${after?.id ?? ''})
          and at >= ${since}
          ${user === undefined ? [] : clause`and user_id = ${user}`}
          ${action === undefined ? [] : clause`and action = ${action}`}
          order by at desc, id desc
          limit ${limit + 1}`,
      )
      const items = found.slice(0, limit)
      const last = items.at(-1)
      return { items, ...(found.length > limit && last && { next: { key: last.at, id: last.id } }) }
    },

    async chainedAudit(sequence, max = defaultMax) {
      return list(sql`
        ${selectEntry}
        where sequence > ${sequence}
        order by sequence
        limit ${max}`)
    },

    async unchainedAudit(after = { at: Number.MIN_SAFE_INTEGER, id: '' }, max = defaultMax) {
      return list(sql`
        ${selectEntry}
        where sequence is null
        and (at, id) > (${after.at}, ${after.id})
        order by at, id
        limit ${max}`)
    },
  }
}
