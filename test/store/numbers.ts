import { type Database, sql } from '../../src/store/database/database.ts'
import { databaseKindOf } from '../../src/store/database/kinds.ts'
import type { TestDatabase } from '../support/database.ts'

/** Opens the migrated database itself, with a table `numbers` whose `i` goes from 1 to `count`: for many rows at once. */
export const openWithNumbers = async (tested: TestDatabase, count: number): Promise<Database> => {
  await tested.open()
  const database = databaseKindOf(tested.url)?.open(tested.url, { deadlineMs: 60_000 })
  if (!database) throw new Error('there is no such kind of database')
  await database.query(sql`create table numbers (i integer primary key)`)
  await database.query(sql`
    insert into numbers (i)
    with recursive counted (i) as (select 1 union all select i + 1 from counted where i < ${count})
    select i from counted`)
  return database
}
