import { createHash } from 'node:crypto'
import type { LoginUser, Session, SessionStore } from '../../../plugins/web-session/store.ts'
import { type Database, type Statement, sql } from '../database/database.ts'
import { lockUser } from '../database/user-locks.ts'

/** Deletes all sessions of a user. Part of the batches that disable or enable a user, or replace the password. */
export const endSessionsOf = (userName: string): Statement => sql`
  delete from sessions
  where user_id = (
    select id
    from users
    where name = ${userName}
  )`

/** Each login deletes at most this many expired sessions. */
const maxRowsPerSweep = 100

/** Sessions, by the hashes of their cookies. `userByName` of the port is in `users.ts`. */
export const createSessionStore = (database: Database): Omit<SessionStore, 'userByName'> => {
  const deleteSession = (hash: string): Statement => sql`
    delete from sessions
    where hash = ${hash}`

  return {
    async addSession(
      { hash, user, password, createdAt, idleUntil, endsAt },
      ended = [],
      max = Number.MAX_SAFE_INTEGER,
    ) {
      const [, , added] = await database.batch([
        lockUser(user),
        sql`
          delete from sessions
          where hash in (
            select hash
            from sessions
            where idle_until <= ${createdAt}
            order by idle_until
            limit ${maxRowsPerSweep}
          )`,
        sql`
          insert into sessions (hash, user_id, password_hash, created_at, idle_until, ends_at)
          select cast(${hash} as text), id, cast(${digest(password)} as text), cast(${createdAt} as bigint),
            cast(${idleUntil} as bigint), cast(${endsAt} as bigint)
          from users
          where id = ${user}
          and disabled_at is null
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
      const [found] = await database.query<Session & Pick<LoginUser, 'password'> & { given: string }>(sql`
        select users.id as "user", users.name, users.password, sessions.password_hash as given,
          sessions.idle_until as "idleUntil", sessions.ends_at as "endsAt"
        from sessions
        join users on users.id = sessions.user_id
        where sessions.hash = ${hash}
        and users.disabled_at is null`)
      if (found?.password === undefined || digest(found.password) !== found.given) return undefined
      const { user, name, idleUntil, endsAt } = found
      return { user, name, idleUntil, endsAt }
    },

    async touchSession(hash, idleUntil) {
      await database.query(sql`
        update sessions
        set idle_until = ${idleUntil}
        where hash = ${hash}
        and idle_until < ${idleUntil}`)
    },

    async endSession(hash) {
      await database.query(deleteSession(hash))
    },
  }
}

/** Digest of a password hash: shows whether the password has changed, without a second copy of its hash. */
const digest = (password: string): string => createHash('sha256').update(password).digest('hex')
