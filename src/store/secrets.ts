import { randomBytes } from 'node:crypto'
import type { Database } from './database/database.ts'
import { sql } from './database/statement.ts'

/**
 * Reads a secret of 256 random bits. Rejects with TypeError without a name. The first call creates it; from then on it
 * is the same for all processes.
 */
export const readSecret = async (database: Database, name: string): Promise<string> => {
  if (typeof name !== 'string' || name === '') throw new TypeError('the name of a secret must be a text, and not empty')
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
  const value = found?.[0]?.value
  if (typeof value !== 'string') throw new Error('the database has not kept the secret')
  return value
}
