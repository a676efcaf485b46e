import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Steps } from '../../src/store/database/database.ts'
import { openSqlite } from '../../src/store/database/sqlite.ts'
import { sql } from '../../src/store/database/statement.ts'
import { openStore, StoreError } from '../../src/store/index.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-file-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the missing folder of a file is created', async () => {
  const store = openStore(`sqlite:${join(folder, 'not', 'yet', 'there.db')}`)
  await store.migrate()
  await store.ready()
  await store.close()
})

const permissionsOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

/** The files of a store that is in use. */
const filesOf = (path: string) => [path, `${path}-wal`, `${path}-shm`]

test('files and folders are created with access for their owner only, whatever the umask', async () => {
  const before = process.umask(0)
  try {
    const path = join(folder, 'private', 'data', 'there.db')
    const store = openStore(`sqlite:${path}`)
    await store.migrate()
    await store.addUser({ name: 'ann', createdAt: 1 })
    for (const file of filesOf(path)) expect([file, await permissionsOf(file)]).toEqual([file, '600'])
    for (const made of ['private', 'private/data']) expect(await permissionsOf(join(folder, made))).toBe('700')
    await store.close()
  } finally {
    process.umask(before)
  }
})

test('existing files are restricted to their owner, and their folder stays as it is', async () => {
  const shared = join(folder, 'shared')
  await mkdir(shared)
  await chmod(shared, 0o755)
  const path = join(shared, 'there.db')
  const older = new DatabaseSync(path)
  older.exec('pragma journal_mode = wal; create table kept (value text); insert into kept values (1)')
  for (const file of filesOf(path)) await chmod(file, 0o644)
  const store = openSqlite(path)
  expect(await store.query(sql`select value from kept`)).toEqual([{ value: '1' }])
  for (const file of filesOf(path)) expect([file, await permissionsOf(file)]).toEqual([file, '600'])
  expect(await permissionsOf(shared)).toBe('755')
  await store.close()
  older.close()
})

test('files behind a symbolic link are restricted to their owner', async () => {
  const place = join(folder, 'place')
  await mkdir(place)
  const path = join(place, 'there.db')
  const older = new DatabaseSync(path)
  older.exec('pragma journal_mode = wal; create table kept (value text)')
  for (const file of filesOf(path)) await chmod(file, 0o644)
  await symlink(path, join(folder, 'link.db'))
  const store = openSqlite(join(folder, 'link.db'))
  expect(await store.query(sql`select value from kept`)).toEqual([])
  for (const file of filesOf(path)) expect([file, await permissionsOf(file)]).toEqual([file, '600'])
  await store.close()
  older.close()
})

test('a folder that cannot be created is no error before the first query', async () => {
  const store = openStore('sqlite:/dev/null/there.db')
  await expect(store.ready()).rejects.toThrow(StoreError)
  await store.close()
})

test('commits are synchronous, readers do not wait for writers, and no lock blocks the process', async () => {
  const database = openSqlite(join(folder, 'pragmas.db'))
  expect(await database.query(sql`pragma synchronous`)).toEqual([{ synchronous: 2 }])
  expect(await database.query(sql`pragma journal_mode`)).toEqual([{ journal_mode: 'wal' }])
  expect(await database.query(sql`pragma busy_timeout`)).toEqual([{ timeout: 0 }])
  await database.close()
})

test('other processes cannot write between the first and the last statement of a transaction', async () => {
  const path = join(folder, 'steps.db')
  const database = openSqlite(path)
  await database.query(sql`create table counts (value bigint)`)
  const other = new DatabaseSync(path)
  const insertFromOther = () => other.exec('insert into counts (value) values (1)')
  await database.exclusively(function* (): Steps {
    yield sql`select value from counts`
    expect(insertFromOther).toThrow('locked')
    yield sql`insert into counts (value) values (2)`
  })
  insertFromOther()
  expect(await database.query(sql`select value from counts order by value`)).toEqual([{ value: 1 }, { value: 2 }])
  other.close()
  await database.close()
})

test('each store in memory is separate', async () => {
  const [one, other] = [openStore('sqlite::memory:'), openStore('sqlite::memory:')]
  await Promise.all([one.migrate(), other.migrate()])
  await one.addUser({ name: 'ann', createdAt: 1 })
  expect(await other.userByName('ann')).toBeUndefined()
  await Promise.all([one.close(), other.close()])
})

test('a closed store rejects every query', async () => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  await store.close()
  await expect(store.ready()).rejects.toThrow('the database is closed')
})

test.each(['', 'sqlite:', 'data/sluice.db', 'mysql://host/name', 'postgres://', 'postgres:///name'])(
  '%j is not the address of a store',
  (url) => {
    expect(() => openStore(url)).toThrow('a store is at sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE')
  },
)
