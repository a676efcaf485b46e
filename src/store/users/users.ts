import { randomUUID } from 'node:crypto'
import { type Database, type Statement, sql } from '../database/database.ts'
import { userChanged } from '../database/revision.ts'
import { lockUserByName } from '../database/user-locks.ts'
import { endSessionsOf } from './sessions.ts'

/** A user of the gateway. Times are milliseconds since 1970. */
export interface User {
  readonly id: string
  /** Unique. */
  readonly name: string
  /** Password hash (PHC string). A user without one cannot log in to the console. */
  readonly password?: string
  readonly createdAt: number
  /** Set while the user is disabled: then the user's tokens are rejected. */
  readonly disabledAt?: number
}

/** The gateway's own users. */
export interface UserRecords {
  /** Returns the new user's id. Undefined when the name is taken. */
  addUser(user: Pick<User, 'name' | 'password' | 'createdAt'>): Promise<string | undefined>
  userByName(name: string): Promise<User | undefined>
  /** All users, oldest first. */
  listUsers(): Promise<readonly User[]>
  /**
   * Disables a user, and ends the user's sessions. An earlier `disabledAt` stays. False when the user does not exist.
   * Raises the revision.
   */
  disableUser(name: string, now: number): Promise<boolean>
  /**
   * Enables a user. Also ends the user's sessions: one may have begun while `disableUser` ran. False when the user does
   * not exist. Raises the revision.
   */
  enableUser(name: string): Promise<boolean>
  /**
   * Replaces the hash of a user's password, and ends the user's sessions. False when the user does not exist. Raises
   * the revision.
   */
  setPassword(name: string, password: string): Promise<boolean>
}

/** The gateway's own users, for an installation without a host app. */
export const createUserStore = (database: Database): UserRecords => {
  const changeUser = async (name: string, ...statements: readonly Statement[]): Promise<boolean> => {
    // The lock orders this batch against `addToken`: a concurrent token is either committed before, and reported as
    // changed, or added after.
    const [, changed] = await database.batch([lockUserByName(name), ...statements, ...userChanged(name)])
    return changed?.length === 1
  }

  return {
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

    async listUsers(): Promise<readonly User[]> {
      return database.query<User>(sql`
        select id, name, password, created_at as "createdAt", disabled_at as "disabledAt"
        from users
        order by created_at, id`)
    },

    disableUser: (name: string, now: number): Promise<boolean> =>
      changeUser(
        name,
        sql`
          update users
          set disabled_at = coalesce(disabled_at, ${now})
          where name = ${name}
          returning id`,
        endSessionsOf(name),
      ),

    enableUser: (name: string): Promise<boolean> =>
      changeUser(
        name,
        sql`
          update users
          set disabled_at = null
          where name = ${name}
          returning id`,
        endSessionsOf(name),
      ),

    setPassword: (name: string, password: string): Promise<boolean> =>
      changeUser(
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
