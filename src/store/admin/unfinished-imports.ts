import { clause, type Database, joinClauses, type Statement, sql } from '../database/database.ts'
import { deletePartsOf, valueList } from '../users/user-rows.ts'

/** After that time, the next import removes what one has left that has not ended: its process was killed. */
export const unfinishedMs = 3_600_000

/** What the names of its rows begin with. */
const prefix = 'user-import:'
/** Users whose ids one row has. */
export const idsInRow = 1_000
/** Users whose parts one statement deletes: SQLite answers nothing else meanwhile. */
const deletedAtOnce = 100

/** The name of a row of an import. */
export const rowName = (importId: string, nth: number): string => `${prefix}${importId}:${nth}`

/** Remembers the ids of users whose parts are added before them: a lease that nobody extends. */
export const rememberIds = (name: string, ids: readonly string[], now: number): Statement => sql`
  insert into leases (name, holder, lease_until)
  values (${name}, ${ids.join(' ')}, ${now + unfinishedMs})`

/** Forgets the ids of some rows, and returns the rows that there were: at least one name. */
export const forgetIds = (names: readonly string[]): Statement =>
  joinClauses(clause`delete from leases where name in (`, ...valueList(names), clause`) returning name`)

/** Removes what imports have left whose processes were killed. */
export const removeUnfinished = async (database: Database, now: number): Promise<void> => {
  const rows = await database.query<{ name: string; holder: string }>(sql`
    select name, holder
    from leases
    where substr(name, 1, ${prefix.length}) = ${prefix}
    and lease_until <= ${now}`)
  for (const { name, holder } of rows) {
    const ids = holder.split(' ')
    for (let from = 0; from < ids.length; from += deletedAtOnce)
      await database.query(deletePartsOf(ids.slice(from, from + deletedAtOnce)))
    await database.query(forgetIds([name]))
  }
}
