import { randomBytes } from 'node:crypto'
import { type Database, sql } from './database.ts'

/** Reads a secret of 256 random bits. The first call creates it; from then on it is the same for all processes. */
export const readSecret = async (database: Database, name: string): Promise<string> => {
  const [, found] = await database.batch([
    sql`
      insert into secrets (name, value)
      values (${name}, ${randomBytes(32).toString('base64url')})
      on conflict do nothing`,
    sql`
      select value
      from secrets
      where name = ${name}`,
  ])
  return String(found?.[0]?.value)
}
