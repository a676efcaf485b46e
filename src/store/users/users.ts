import type { AdminStore, UserChange } from '../../../plugins/admin/store.ts'
import { nameKey } from '../../../plugins/shared/identity/name-key.ts'
import type { Database } from '../database/database.ts'
import { sql, toColumnValue } from '../database/statement.ts'

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
  /** Returns the new user's id. Undefined when the name is taken: names are compared without regard to case. */
  addUser(user: Pick<User, 'name' | 'password' | 'createdAt'>): Promise<string | undefined>
  /** The user of that name, without regard to case. A user of exactly that name comes first. */
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
export const createUserStore = (
  database: Database,
  admin: Pick<AdminStore, 'addAdminUser' | 'changeUser'>,
): UserRecords => {
  const change = async (name: string, what: UserChange, now = 0): Promise<boolean> => {
    const [user] = await database.query<{ id: string }>(sql`
      select id
      from users
      where name = ${name}`)
    return user !== undefined && (await admin.changeUser(user.id, what, { now })) === 'changed'
  }

  return {
    async addUser({ name, password, createdAt }) {
      // Before the transaction, which reports such a value as one that the database does not accept.
      for (const value of [name, password, createdAt]) toColumnValue(value)
      const added = await admin.addAdminUser({ name, password, createdAt })
      return typeof added === 'string' ? undefined : added.id
    },

    async userByName(name) {
      const [user] = await database.query<User>(sql`
        select id, name, password, created_at as "createdAt", disabled_at as "disabledAt"
        from users
        where name = ${name}
        or name_key = ${nameKey(name)}
        order by case when name = ${name} then 0 else 1 end, name_shared
        limit 1`)
      return user
    },

    async listUsers() {
      return database.query<User>(sql`
        select id, name, password, created_at as "createdAt", disabled_at as "disabledAt"
        from users
        order by created_at, id`)
    },

    disableUser: (name, now) => change(name, { disabled: true }, now),

    enableUser: (name) => change(name, { disabled: false }),

    setPassword: (name, password) => change(name, { password }),
  }
}
