import { expect, test } from 'bun:test'
import { sql } from '../../src/store/database/database.ts'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import { openStore } from '../../src/store/index.ts'
import { migrate, migrations } from '../../src/store/migrations/migrations.ts'
import { eachDatabase, freshDatabase } from '../support/database.ts'

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
})
