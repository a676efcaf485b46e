import { expect, test } from 'bun:test'
import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { DatabaseLockedError } from '../../src/store/database/error.ts'
import { openPostgres } from '../../src/store/database/postgres.ts'
import { openSqlite } from '../../src/store/database/sqlite.ts'
import { sql } from '../../src/store/database/statement.ts'
import { freshDatabase } from '../support/database.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { until } from '../support/until.ts'

const nothing = function* () {
  yield sql`select 1`
}

test('who waits for the migrations of another process is told so, and leaves no session waiting (postgres)', async () => {
  const { url, remove } = await freshDatabase('postgres')
  const held = Promise.withResolvers<void>()
  const ends = Promise.withResolvers<void>()
  const other = openPostgres(url, { deadlineMs: 60_000 })
  const admin = postgres(url, { max: 1 })
  const database = openPostgres(url, { deadlineMs: 60_000 })
  try {
    // The lock of migrations, without migrations that take long.
    const key = admin.begin(async (tx) => {
      await tx.unsafe('select pg_advisory_xact_lock(7584231906)')
      held.resolve()
      await ends.promise
    })
    await held.promise
    // Connected: on a busy machine that would take longer.
    await database.query(sql`select 1`)
    const rejected = await database.exclusively(nothing, 5_000).catch((error: unknown) => error)
    expect(rejected).toBeInstanceOf(DatabaseLockedError)
    expect((rejected as Error).message).toBe('another process migrates the database')
    const waiting = await other.query(sql`select pid from pg_locks where locktype = 'advisory' and not granted`)
    expect(waiting).toEqual([])
    ends.resolve()
    await key
    await database.exclusively(nothing)
  } finally {
    ends.resolve()
    await Promise.all([other.close(), database.close(), admin.end()])
    await remove()
  }
})

test('who waits for the writes of another process is told so (sqlite)', async () => {
  const { url, remove } = await freshDatabase('sqlite')
  const path = url.slice('sqlite:'.length)
  const database = openSqlite(path, { deadlineMs: 200 })
  await database.exclusively(nothing)
  const other = new DatabaseSync(path)
  other.exec('begin immediate')
  const rejected = await database.exclusively(nothing).catch((error: unknown) => error)
  expect(rejected).toBeInstanceOf(DatabaseLockedError)
  other.exec('commit')
  await database.exclusively(nothing)
  other.close()
  await database.close()
  await remove()
})

for (const runtime of ['bun', 'deno'] as const)
  test(`a server says what it waits for, and serves when the other process has ended (${runtime})`, async () => {
    await using fixture = await openServerFixture('sqlite')
    const other = new DatabaseSync((fixture.environment.DATABASE_URL ?? '').slice('sqlite:'.length))
    other.exec('begin immediate')
    const server = await fixture.start({ DATABASE_TIMEOUT_SECONDS: undefined }, runtime)
    expect(server.stderr()).toContain(
      'another process migrates the database, or writes to it for long; the server waits',
    )
    expect(server.stderr()).not.toContain('the database is not available')
    const models = () => fetch(`${server.url}/v1/models`, { headers: { authorization: 'Bearer sk-x' } })
    const waiting = await models()
    expect([waiting.status, waiting.headers.get('retry-after')]).toEqual([503, '2'])
    other.exec('commit')
    other.close()
    await until(async () => (await models()).status === 401)
  })
