import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'

/** Which of several accounts of the asset library is the first: it has the groups whose record names none. */
export interface FirstAccountRecords {
  /** The recorded name. The first call records this one. */
  recordFirstAccount(name: string): Promise<string>
  /** Undefined: none is recorded. */
  firstAccount(): Promise<string | undefined>
  changeFirstAccount(name: string): Promise<void>
}

export const createFirstAccountStore = (database: Database): FirstAccountRecords => {
  const firstAccount = async (): Promise<string | undefined> => {
    const [found] = await database.query<{ name: string }>(sql`
      select name
      from first_account
      where id = 1`)
    return found?.name
  }
  return {
    firstAccount,

    async recordFirstAccount(name) {
      await database.query(sql`
        insert into first_account (id, name)
        values (1, ${name})
        on conflict (id) do nothing`)
      return (await firstAccount()) ?? name
    },

    async changeFirstAccount(name) {
      await database.query(sql`
        insert into first_account (id, name)
        values (1, ${name})
        on conflict (id) do update
        set name = excluded.name`)
    },
  }
}
