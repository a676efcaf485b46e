import type { Database } from '../../src/store/database/database.ts'
import { openDatabase } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import type { TestDatabase } from '../support/database.ts'

/** Opens the migrated database itself, with a table `numbers` whose `i` goes from 1 to `count`: for many rows at once. */
export const openWithNumbers = async (tested: TestDatabase, count: number): Promise<Database> => {
  await tested.open()
  const database = openDatabase(tested.url, { deadlineMs: 60_000 })
  await database.query(sql`create table numbers (i integer primary key)`)
  await database.query(sql`
    insert into numbers (i)
    with recursive counted (i) as (select 1 union all select i + 1 from counted where i < ${count})
    select i from counted`)
  return database
}
