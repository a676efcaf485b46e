import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import { openStore } from '../../src/store/index.ts'
import { countMissing, migrate } from '../../src/store/migrations/migrate.ts'
import { migrations } from '../../src/store/migrations/migrations.ts'
import { eachDatabase, freshDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

eachDatabase('migration', ({ kind }) => {
  const fresh = async () => {
    const made = await freshDatabase(kind)
    const connect = () => databaseKinds[kind].open(made.url, { deadlineMs: 60_000 })
    return { ...made, connect }
  }

  test('many stores can migrate a new database concurrently, and again', async () => {
    const { url, remove } = await fresh()
    const stores = Array.from({ length: 6 }, () => openStore(url, { deadlineMs: 60_000 }))
    await Promise.all(stores.map((store) => store.migrate()))
    await Promise.all(stores.map((store) => store.migrate()))
    expect(await stores[0]?.revision()).toBe(1)
    await Promise.all(stores.map((store) => store.close()))
    await remove()
  })

  test('only missing migrations are applied, in order', async () => {
    const { connect, remove } = await fresh()
    const database = connect()
    await database.exclusively(() => migrate(1))
    const later = [...migrations, [sql`create table later (id bigint)`], [sql`insert into later (id) values (7)`]]
    await database.exclusively(() => migrate(2, later))
    await database.exclusively(() => migrate(3, later))
    expect(await database.query(sql`select id from later`)).toEqual([{ id: 7 }])
    const first = migrations.map((_, nth) => ({ id: nth + 1, at: 1 }))
    expect(await database.query(sql`select id, applied_at as at from sluice_migrations order by id`)).toEqual([
      ...first,
      { id: first.length + 1, at: 2 },
      { id: first.length + 2, at: 2 },
    ])
    await database.close()
    await remove()
  })

  test('a migration that fails changes nothing', async () => {
    const { connect, remove } = await fresh()
    const database = connect()
    const broken = [...migrations, [sql`create table later (id bigint)`, sql`insert into nowhere (id) values (7)`]]
    await expect(database.exclusively(() => migrate(1, broken))).rejects.toThrow('the database request failed')
    await database.exclusively(() => migrate(2))
    await expect(database.query(sql`select id from later`)).rejects.toThrow()
    await database.close()
    await remove()
  })

  test('a database that is newer than the program is rejected', async () => {
    const { connect, url, remove } = await fresh()
    const database = connect()
    await database.exclusively(() => migrate(1, [...migrations, [sql`create table later (id bigint)`]]))
    const store = openStore(url, { deadlineMs: 60_000 })
    await expect(store.migrate()).rejects.toThrow(
      `the database is newer than this program: it has migration ${migrations.length + 1}, this program knows ${migrations.length}`,
    )
    await Promise.all([database.close(), store.close()])
    await remove()
  })

  // SQLite executes a migration in one turn: nothing else of the process runs meanwhile.
  if (kind === 'postgres')
    test('a migration may wait and work for longer than a query, and a process that starts meanwhile tries again', async () => {
      const { url, connect, remove } = await fresh()
      const [reader, other] = [postgres(url, { max: 1 }), connect()]
      await other.exclusively(() => migrate(1))
      // PostgreSQL ends a connection that is idle in a transaction for twice that time, as one of a busy machine may be.
      const deadlineMs = 2_000
      const database = databaseKinds.postgres.open(url, { deadlineMs })
      const long = [...migrations, [sql`alter table users add column later bigint`]]
      const [read, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const reading = reader.begin(async (transaction) => {
        await transaction`select count(*) from users`
        read.resolve()
        await done.promise
      })
      try {
        await Promise.race([read.promise, reading])
        const migrating = database.exclusively(() => migrate(2, long), 120_000)
        const waits = sql`select count(*) as n from pg_locks where not granted and locktype = 'relation'`
        const isWaiting = () => until(async () => Number((await other.query(waits))[0]?.n) > 0)
        await Promise.race([isWaiting(), migrating])

        let missing = 0
        const count = function* () {
          missing = yield* countMissing(long)
        }
        await expect(other.exclusively(count, 200)).rejects.toThrow('another process migrates the database')
        // More than the deadline of a query, of a statement and of the wait for a lock.
        await Promise.race([Bun.sleep(1.5 * deadlineMs), migrating])
        done.resolve()
        await Promise.all([reading, migrating])
        await other.exclusively(count)
        expect(missing).toBe(0)
      } finally {
        done.resolve()
        await Promise.all([reader.end({ timeout: 5 }), database.close(), other.close()])
        await remove()
      }
    }, 300_000)
})
