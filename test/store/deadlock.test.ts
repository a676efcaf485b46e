import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Database } from '../../src/store/database/database.ts'
import { openPostgres } from '../../src/store/database/postgres.ts'
import { sql } from '../../src/store/database/statement.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database.ts'

let made: FreshDatabase
let database: Database
beforeAll(async () => {
  made = await migratedDatabase('postgres')
  database = openPostgres(made.url, { deadlineMs: 60_000 })
  await database.query(sql`create table counts (id bigint primary key, value bigint)`)
  await database.query(sql`insert into counts (id, value) values (1, 0), (2, 0)`)
}, 300_000)
afterAll(async () => {
  await database.close()
  await made.remove()
})

test('two batches that deadlock both take effect, once', async () => {
  const raise = (id: number) => sql`update counts set value = value + 1 where id = ${id}`
  const pause = sql`select pg_sleep(0.1)`
  await Promise.all([database.batch([raise(1), pause, raise(2)]), database.batch([raise(2), pause, raise(1)])])
  expect(await database.query(sql`select value from counts order by id`)).toEqual([{ value: 2 }, { value: 2 }])
})
