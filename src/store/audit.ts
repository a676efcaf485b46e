import type { AuditPageStore } from '../../plugins/admin/audit-pages.ts'
import type { AuditAction } from '../../plugins/shared/audit.ts'
import { clause, type Database, fragment, joinClauses, sql } from './database/database.ts'

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
export type AuditEntry = NewAuditEntry

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

/** The audit trail. */
export interface AuditRecords extends AuditPageStore {
  /** Writes all entries, or none. */
  recordAudit(entries: readonly NewAuditEntry[]): Promise<void>
  /** One page, oldest first: at most `max` entries, default 1,000, that follow the entry `after`. */
  listAudit(filter?: AuditFilter, after?: Pick<AuditEntry, 'at' | 'id'>, max?: number): Promise<readonly AuditEntry[]>
  /** Deletes the oldest entries from before the time `before`, at most `max`. Returns their number. */
  sweepAudit(before: number, max: number): Promise<number>
}

type AuditRow = Omit<AuditEntry, 'fields'> & { readonly fields?: string }

const toEntry = ({ fields, ...entry }: AuditRow): AuditEntry => ({
  ...entry,
  ...(fields !== undefined && { fields: fields.split(' ') }),
})

const selectEntry = fragment`
  select id, at, action, user_id as "user", user_name as name, token_id as token, kind, target, address, status, reason,
    fields, times
  from audit_entries`

/** The audit trail. Its table has no foreign keys: entries outlive the users, tokens and groups that they name. */
export const createAuditStore = (database: Database): AuditRecords => ({
  async recordAudit(entries: readonly NewAuditEntry[]): Promise<void> {
    await database.batch(
      entries.map(({ id, at, action, user, name, token, kind, target, address, status, reason, fields, times }) => {
        // A name that no user has is not stored: it may be a password in the wrong field.
        // The statement is the same in both cases, so its duration does not reveal whether the user exists.
        const givenName = user === undefined ? name : undefined
        return sql`
          insert into audit_entries (
            id, at, action, user_id, user_name, token_id, kind, target, address, status, reason, fields, times
          )
          values (
            ${id}, ${at}, ${action},
            coalesce(cast(${user} as text), (select users.id from users where users.name = ${givenName})),
            (select users.name from users where users.id = ${user} or users.name = ${givenName}),
            ${token}, ${kind}, ${target}, ${address}, ${status}, ${reason}, ${fields?.join(' ')}, ${times}
          )
          on conflict (id) do nothing`
      }),
    )
  },

  async listAudit(
    { user, action, since = 0, until = Number.MAX_SAFE_INTEGER }: AuditFilter = {},
    after: Pick<AuditEntry, 'at' | 'id'> = { at: since, id: '' },
    max = 1_000,
  ): Promise<readonly AuditEntry[]> {
    const found = await database.query<AuditRow>(sql`
      ${selectEntry}
      where (at, id) > (${after.at}, ${after.id})
      and at < ${until}
      and (cast(${user} as text) is null or user_name = ${user} or user_id = ${user})
      and (cast(${action} as text) is null or action = ${action})
      order by at, id
      limit ${max}`)
    return found.map(toEntry)
  },

  async auditPage({ user, action, since = 0, until = Number.MAX_SAFE_INTEGER }, { limit, after }) {
    const found = await database.query<AuditRow>(
      joinClauses(
        clause`
          ${selectEntry}
          where (at, id) < (${Number(after?.key ?? until)}, ${after?.id ?? ''})
          and at >= ${since}`,
        ...(user === undefined ? [] : [clause` and user_id = ${user}`]),
        ...(action === undefined ? [] : [clause` and action = ${action}`]),
        clause` order by at desc, id desc limit ${limit + 1}`,
      ),
    )
    const items = found.slice(0, limit).map(toEntry)
    const last = items.at(-1)
    return { items, ...(found.length > limit && last && { next: { key: last.at, id: last.id } }) }
  },

  async sweepAudit(before: number, max: number): Promise<number> {
    const swept = await database.query(sql`
      delete from audit_entries
      where id in (
        select id
        from audit_entries
        where at < ${before}
        order by at
        limit ${max}
      )
      returning id`)
    return swept.length
  },
})
