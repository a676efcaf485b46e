import { type Database, sql } from './database.ts'

/** Belongs, as the last one, into every batch that takes something away: what processes remember is forgotten by it. */
export const raiseRevision = sql`update revision set value = value + 1`

export const readRevision = async (database: Database): Promise<number> => {
  const [row] = await database.query(sql`select value from revision`)
  return Number(row?.value)
}
