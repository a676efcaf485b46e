import { expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { hasNoSpace } from '../../plugins/shared/no-space.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import { DatabaseBusyError } from '../../src/store/database/error.ts'
import { openPostgres } from '../../src/store/database/postgres.ts'
import { sql } from '../../src/store/database/statement.ts'
import { migratedDatabase } from '../support/database.ts'

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'resolved',
    (error: unknown) => error,
  )

test('on PostgreSQL, a lack of memory is a DatabaseBusyError, for which a request gets 503', async () => {
  const database = await migratedDatabase('postgres')
  const connection = openPostgres(database.url, { deadlineMs: 60_000 })
  try {
    const failure = await failureOf(
      connection.query(sql`do $$ begin raise exception 'out of memory' using errcode = '53200'; end $$`),
    )
    expect(failure).toBeInstanceOf(DatabaseBusyError)
    expect(hasNoSpace(failure)).toBe(false)
    expect(new Problem(500, 'x', { cause: failure }).status).toBe(503)
  } finally {
    await connection.close()
    await database.remove()
  }
})

test('on PostgreSQL, a statement that the server has ended at its time limit is a DatabaseBusyError, and changed nothing', async () => {
  const database = await migratedDatabase('postgres')
  const connection = openPostgres(database.url, { deadlineMs: 60_000 })
  try {
    await connection.query(sql`create table kept (value integer)`)
    const failure = await failureOf(
      connection.batch([
        sql`insert into kept values (1)`,
        sql`set local statement_timeout = 1`,
        sql`select pg_sleep(60)`,
      ]),
    )
    expect(failure).toBeInstanceOf(DatabaseBusyError)
    expect(new Problem(500, 'x', { cause: failure }).status).toBe(503)
    expect(await connection.query(sql`select value from kept`)).toEqual([])
  } finally {
    await connection.close()
    await database.remove()
  }
})

test('on PostgreSQL, too many connections are a DatabaseBusyError, and the next query works', async () => {
  const database = await migratedDatabase('postgres')
  const admin = postgres(database.url, { max: 1, onnotice: () => {} })
  const role = `role_${randomUUID().replaceAll('-', '')}`
  const url = new URL(database.url)
  Object.assign(url, { username: role, password: 'x' })
  const [first, second] = [
    openPostgres(url.href, { deadlineMs: 60_000 }),
    openPostgres(url.href, { deadlineMs: 60_000 }),
  ]
  try {
    await admin.unsafe(`create role ${role} login password 'x' connection limit 1`)
    await first.query(sql`select 1`)
    expect(await failureOf(second.query(sql`select 1`))).toBeInstanceOf(DatabaseBusyError)
    await admin.unsafe(`alter role ${role} connection limit 5`)
    expect(await second.query<{ one: number }>(sql`select 1 as one`)).toEqual([{ one: 1 }])
  } finally {
    await Promise.all([first.close(), second.close()])
    await admin.unsafe(`drop role if exists ${role}`)
    await admin.end()
    await database.remove()
  }
})
