import type { Database } from '../database/database.ts'
import { sharesChange, userChanged } from '../database/revision.ts'
import { sql } from '../database/statement.ts'
import { lockUser } from '../database/user-locks.ts'
import { endSharesOf } from '../library/shares.ts'
import { endWorkOf } from './disabled-users.ts'

/**
 * Users of a host app. The store knows only their ids: each id that none of its own users has when a token or session
 * is added.
 */
export interface HostUserRecords {
  /**
   * Disables a user of a host app, by id: ends the user's sessions, and rejects the user's tokens and new sessions
   * until `enableHostUser`, also tokens that are added later. False, and nothing changes, for a user of the store.
   * Raises the revision.
   */
  disableHostUser(id: string, now: number): Promise<boolean>
  /** Accepts the user's tokens again. False when the user was not disabled. Raises the revision. */
  enableHostUser(id: string): Promise<boolean>
  /** Ends all sessions of a user of the store or of a host app, by id: for example, after a change of the password. */
  endSessions(user: string): Promise<void>
}

/** The users of a host app that are disabled, by id. */
export const createHostUserStore = (database: Database): HostUserRecords => ({
  async disableHostUser(id, now) {
    const [, disabled] = await database.batch([
      // Orders this batch against `addToken`: a concurrent token is reported as changed, or added after.
      lockUser(id),
      // An earlier `disabled_at` stays.
      sql`
        insert into disabled_host_users (id, disabled_at)
        select cast(${id} as text), cast(${now} as bigint)
        where not exists (
          select 1
          from users
          where id = ${id}
        )
        on conflict (id) do update
        set disabled_at = disabled_host_users.disabled_at
        returning id`,
      sql`
        delete from sessions
        where user_id = ${id}
        and host_user_name is not null`,
      endSharesOf(id),
      ...endWorkOf(id, now),
      ...userChanged(id),
      sharesChange,
    ])
    return disabled?.length === 1
  },

  async enableHostUser(id) {
    const [, enabled] = await database.batch([
      lockUser(id),
      sql`
        delete from disabled_host_users
        where id = ${id}
        returning id`,
      ...userChanged(id),
    ])
    return enabled?.length === 1
  },

  async endSessions(user) {
    await database.query(sql`
      delete from sessions
      where user_id = ${user}`)
  },
})
