import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Steps, sql } from '../../src/store/database.ts'
import { openStore, StoreError } from '../../src/store/index.ts'
import { openSqlite } from '../../src/store/sqlite.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-file-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the folder of a file is made', async () => {
  const store = openStore(`sqlite:${join(folder, 'not', 'yet', 'there.db')}`)
  await store.migrate()
  await store.ready()
  await store.close()
})

test('a folder that cannot be made is no error before the first question', async () => {
  const store = openStore('sqlite:/dev/null/there.db')
  await expect(store.ready()).rejects.toThrow(StoreError)
  await store.close()
})

test('what was acknowledged is on the disk, and readers do not wait for writers', async () => {
  const database = openSqlite(join(folder, 'pragmas.db'))
  expect(await database.query(sql`pragma synchronous`)).toEqual([{ synchronous: 2 }])
  expect(await database.query(sql`pragma journal_mode`)).toEqual([{ journal_mode: 'wal' }])
  await database.close()
})

test('other processes cannot write between the first step of a transaction and its last', async () => {
  const path = join(folder, 'steps.db')
  const database = openSqlite(path)
  await database.query(sql`create table counts (value bigint)`)
  const other = new DatabaseSync(path)
  const intrude = () => other.exec('insert into counts (value) values (1)')
  await database.exclusively(function* (): Steps {
    yield sql`select value from counts`
    expect(intrude).toThrow('locked')
    yield sql`insert into counts (value) values (2)`
  })
  intrude()
  expect(await database.query(sql`select value from counts order by value`)).toEqual([{ value: 1 }, { value: 2 }])
  other.close()
  await database.close()
})

test('a store in memory is one of its own', async () => {
  const [one, other] = [openStore('sqlite::memory:'), openStore('sqlite::memory:')]
  await Promise.all([one.migrate(), other.migrate()])
  await one.addUser({ name: 'ann', createdAt: 1 })
  expect(await other.userByName('ann')).toBeUndefined()
  await Promise.all([one.close(), other.close()])
})

test('a closed store answers nothing', async () => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  await store.close()
  await expect(store.ready()).rejects.toThrow('the database is closed')
})

test.each(['', 'sqlite:', 'data/sluice.db', 'mysql://host/name'])('%j is no address of a store', (url) => {
  expect(() => openStore(url)).toThrow('a store is at sqlite:PATH or postgres://…')
})
