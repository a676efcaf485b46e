import { beforeAll, expect, test } from 'bun:test'
import type { Database } from '../../src/store/database/database.ts'
import { StoreError } from '../../src/store/database/error.ts'
import { openPostgres } from '../../src/store/database/postgres.ts'
import { openSqlite } from '../../src/store/database/sqlite.ts'
import { sql } from '../../src/store/database/statement.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('transaction', (tested) => {
  let database: Database
  beforeAll(async () => {
    const { kind, url } = tested
    database = kind === 'sqlite' ? openSqlite(url.slice('sqlite:'.length)) : openPostgres(url, { deadlineMs: 60_000 })
    await database.query(sql`create table counts (id bigint primary key, value bigint)`)
  })

  test('a batch takes effect completely or not at all', async () => {
    const batch = database.batch([
      sql`insert into counts (id, value) values (1, 1)`,
      sql`insert into counts (id, value) values (1, 2)`,
      sql`insert into counts (id, value) values (2, 2)`,
    ])
    await expect(batch).rejects.toThrow('a record with the same key already exists in the database')
    expect(await database.query(sql`select id from counts`)).toEqual([])
  })

  test('concurrent batches do not disturb each other', async () => {
    await database.query(sql`insert into counts (id, value) values (3, 0)`)
    const raise = sql`update counts set value = value + 1 where id = 3 returning value`
    await Promise.all(Array.from({ length: 60 }, () => database.batch([raise, raise])))
    expect(await database.query(sql`select value from counts where id = 3`)).toEqual([{ value: 120 }])
  })

  test('the driver’s error is in the cause, not in the message', async () => {
    const failure = await database.query(sql`select hidden from nowhere`).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreError)
    expect(failure).toMatchObject({ message: 'the database request failed' })
    expect(String((failure as Error).cause)).toContain('nowhere')
  })

  test('integers come back as numbers, nulls as absent', async () => {
    const [row] = await database.query(sql`
      insert into counts (id, value)
      values (${Number.MAX_SAFE_INTEGER}, ${undefined})
      returning id, value`)
    expect(row).toEqual({ id: Number.MAX_SAFE_INTEGER })
    await database.close()
  })
})
