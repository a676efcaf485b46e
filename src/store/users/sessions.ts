import { createHash } from 'node:crypto'
import type { Session, SessionStore } from '../../../plugins/web-session/store.ts'
import type { Database } from '../database/database.ts'
import { deleteOldest } from '../database/oldest-rows.ts'
import { clause, type Statement, sql } from '../database/statement.ts'
import { lockUser } from '../database/user-locks.ts'

/** Each login deletes at most this many expired sessions. */
const maxRowsPerSweep = 100

interface StoredSession extends Session {
  /** The id, of a user of the store. */
  readonly own?: string
  /** The user's password hash. */
  readonly password?: string
  /** Digest of the password hash at the login. */
  readonly given?: string
}

/** Sessions, by the hashes of their cookies. `userByName` of the port is in `users.ts`. */
export const createSessionStore = (database: Database): Omit<SessionStore, 'userByName'> => {
  const deleteSession = (hash: string): Statement => sql`
    delete from sessions
    where hash = ${hash}`

  return {
    async addSession(
      { hash, id, user, name, password, createdAt, idleUntil, endsAt, userAgent },
      ended = [],
      max = Number.MAX_SAFE_INTEGER,
    ) {
      const [, , added] = await database.batch([
        lockUser(user),
        deleteExpiredSessions(createdAt),
        sql`
          insert into sessions (
            hash, id, user_id, password_hash, created_at, last_used_at, idle_until, ends_at, user_agent, host_user_name
          )
          select cast(${hash} as text), cast(${id} as text), cast(${user} as text), cast(${passwordDigest(password)} as text),
            cast(${createdAt} as bigint), cast(${createdAt} as bigint), cast(${idleUntil} as bigint),
            cast(${endsAt} as bigint), cast(${userAgent} as text),
            case
              when exists (
                select 1
                from users
                where id = ${user}
              ) then null
              else cast(${name} as text)
            end
          where not exists (
            select 1
            from users
            where id = ${user}
            and (disabled_at is not null or service = 1)
          )
          and not exists (
            select 1
            from disabled_host_users
            where id = ${user}
          )
          returning hash`,
        ...ended.map(
          (other) => sql`
            delete from sessions
            where hash = ${other}
            and exists (
              select 1
              from sessions
              where hash = ${hash}
            )`,
        ),
        // Keeps the new session and the `max - 1` newest of the others.
        sql`
          delete from sessions
          where hash in (
            select hash
            from sessions
            where user_id = ${user}
            and hash <> ${hash}
            order by created_at desc, hash
            limit ${Number.MAX_SAFE_INTEGER}
            offset ${max - 1}
          )
          and exists (
            select 1
            from sessions
            where hash = ${hash}
          )`,
      ])
      return added?.length === 1
    },

    async session(hash) {
      const [found] = await database.query<StoredSession>(sql`
        select sessions.id, sessions.user_id as "user", coalesce(users.name, sessions.host_user_name) as name,
          users.role, users.id as own, users.password, sessions.password_hash as given,
          sessions.idle_until as "idleUntil", sessions.ends_at as "endsAt"
        from sessions
        left join users on users.id = sessions.user_id
        where sessions.hash = ${hash}
        and (users.id is not null or sessions.host_user_name is not null)
        and users.disabled_at is null
        and not exists (
          select 1
          from disabled_host_users
          where disabled_host_users.id = sessions.user_id
        )`)
      if (!found) return undefined
      const { own, password, given, ...session } = found
      // Only the host app knows the password of its user.
      if (own !== undefined && passwordDigest(password) !== given) return undefined
      return session
    },

    async touchSession(hash, idleUntil, usedAt) {
      await database.query(sql`
        update sessions
        set idle_until = ${idleUntil}, last_used_at = coalesce(cast(${usedAt} as bigint), last_used_at)
        where hash = ${hash}
        and idle_until < ${idleUntil}`)
    },

    async endSession(hash) {
      await database.query(deleteSession(hash))
    },
  }
}

export const deleteExpiredSessions = (now: number): Statement =>
  deleteOldest(
    {
      ...{ table: clause`sessions`, time: clause`idle_until`, key: clause`hash` },
      where: clause`idle_until <= ${now}`,
    },
    maxRowsPerSweep,
  )

/**
 * Digest of a password hash: shows whether the password has changed, without a second copy of its hash. Undefined for a
 * user without a password.
 */
export const passwordDigest = (password: string | undefined): string | undefined =>
  password === undefined ? undefined : createHash('sha256').update(password).digest('hex')
