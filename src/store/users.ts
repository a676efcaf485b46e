import { randomUUID } from 'node:crypto'
import { type Database, type Statement, sql } from './database.ts'
import { userChanged } from './revision.ts'
import { endSessionsOf } from './sessions.ts'
import { lockUserByName } from './user-locks.ts'

/** Somebody who may call. Times are milliseconds since 1970. */
export interface User {
  readonly id: string
  /** Unique. */
  readonly name: string
  /** Hash of the password (PHC string); a user without one has no web login. */
  readonly password?: string
  readonly createdAt: number
  /** A disabled user's tokens do not work. */
  readonly disabledAt?: number
}

/** The users of an installation that has none of its own. */
export const users = (database: Database) => {
  const change = async (name: string, ...statements: readonly Statement[]): Promise<boolean> => {
    // A token that is added meanwhile is added before all this, and is among those that are said to have changed, or after it.
    const [, changed] = await database.batch([lockUserByName(name), ...statements, ...userChanged(name)])
    return changed?.length === 1
  }

  return {
    /** The new user's id; undefined when the name is taken. */
    async addUser(user: Pick<User, 'name' | 'password' | 'createdAt'>): Promise<string | undefined> {
      const [added] = await database.query<{ id: string }>(sql`
        insert into users (id, name, password, created_at)
        values (${randomUUID()}, ${user.name}, ${user.password}, ${user.createdAt})
        on conflict do nothing
        returning id`)
      return added?.id
    },

    async userByName(name: string): Promise<User | undefined> {
      const [user] = await database.query<User>(sql`
        select id, name, password, created_at as "createdAt", disabled_at as "disabledAt"
        from users
        where name = ${name}`)
      return user
    },

    /** Oldest first. */
    async listUsers(): Promise<readonly User[]> {
      return database.query<User>(sql`
        select id, name, password, created_at as "createdAt", disabled_at as "disabledAt"
        from users
        order by created_at, id`)
    },

    /** False when there is no such user. A user who is disabled already stays so since then; sessions end. Raises the revision. */
    disableUser: (name: string, now: number): Promise<boolean> =>
      change(
        name,
        sql`
          update users
          set disabled_at = coalesce(disabled_at, ${now})
          where name = ${name}
          returning id`,
        endSessionsOf(name),
      ),

    /** False when there is no such user. Ends sessions too: one may have begun at the very moment in which the user was disabled. Raises the revision. */
    enableUser: (name: string): Promise<boolean> =>
      change(
        name,
        sql`
          update users
          set disabled_at = null
          where name = ${name}
          returning id`,
        endSessionsOf(name),
      ),

    /** Replaces the hash of a user's password, and ends sessions. False when there is no such user. Raises the revision. */
    setPassword: (name: string, password: string): Promise<boolean> =>
      change(
        name,
        sql`
          update users
          set password = ${password}
          where name = ${name}
          returning id`,
        endSessionsOf(name),
      ),
  }
}
