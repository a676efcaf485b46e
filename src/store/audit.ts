import type { AuditAction } from '../../plugins/shared/audit.ts'
import { type Database, sql } from './database.ts'

/** An entry of the audit trail, as it is written. */
export interface NewAuditEntry {
  /** Random: what is written twice is there once. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly action: AuditAction
  /** Id of the user. */
  readonly user?: string
  /** The name of a user, where the id is not known. Kept only if there is such a user. */
  readonly name?: string
  /** Id of the token that was used. */
  readonly token?: string
  /** Kind and id of what it was done to. */
  readonly kind?: string
  readonly target?: string
  /** Where it came from: an address, or `admin`. */
  readonly address?: string
  readonly status?: number
  readonly reason?: string
  /** So often, from `at` on. */
  readonly times: number
}

/** The same, as it is read: `name` is the user's at that time. */
export type AuditEntry = NewAuditEntry

export interface AuditFilter {
  /** Name of a user; or an id, for users of a host app. */
  readonly user?: string
  readonly action?: AuditAction
  /** Milliseconds since 1970, itself included. */
  readonly since?: number
  /** Milliseconds since 1970, itself not included. */
  readonly until?: number
}

/** What happened, and who did it. Nothing here refers to users, tokens or groups: what is gone was there once. */
export const audit = (database: Database) => ({
  /** All of them or none. */
  async recordAudit(entries: readonly NewAuditEntry[]): Promise<void> {
    await database.batch(
      entries.map(({ id, at, action, user, name, token, kind, target, address, status, reason, times }) => {
        // A name that nobody has is not written down, and finding that out takes as long as the other thing.
        const claimed = user === undefined ? name : undefined
        return sql`
          insert into audit_entries (
            id, at, action, user_id, user_name, token_id, kind, target, address, status, reason, times
          )
          values (
            ${id}, ${at}, ${action},
            coalesce(cast(${user} as text), (select users.id from users where users.name = ${claimed})),
            (select users.name from users where users.id = ${user} or users.name = ${claimed}),
            ${token}, ${kind}, ${target}, ${address}, ${status}, ${reason}, ${times}
          )
          on conflict (id) do nothing`
      }),
    )
  },

  /** A page of the trail, oldest first: what follows the entry `after`, so much at most. */
  async listAudit(
    { user, action, since = 0, until = Number.MAX_SAFE_INTEGER }: AuditFilter = {},
    after: Pick<AuditEntry, 'at' | 'id'> = { at: since, id: '' },
    most = 1_000,
  ): Promise<readonly AuditEntry[]> {
    return database.query<AuditEntry>(sql`
      select id, at, action, user_id as "user", user_name as name, token_id as token, kind, target, address, status,
        reason, times
      from audit_entries
      where (at, id) > (${after.at}, ${after.id})
      and at < ${until}
      and (cast(${user} as text) is null or user_name = ${user} or user_id = ${user})
      and (cast(${action} as text) is null or action = ${action})
      order by at, id
      limit ${most}`)
  },

  /** Forgets entries older than that, `most` at a time, the oldest first. How many there were. */
  async sweepAudit(before: number, most: number): Promise<number> {
    const swept = await database.query(sql`
      delete from audit_entries
      where id in (
        select id
        from audit_entries
        where at < ${before}
        order by at
        limit ${most}
      )
      returning id`)
    return swept.length
  },
})
