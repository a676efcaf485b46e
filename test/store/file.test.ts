import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises'
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

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

/** All that a store that is in use has on the disk. */
const filesOf = (path: string) => [path, `${path}-wal`, `${path}-shm`]

test('files and folders are made for their owner alone, whatever the umask', async () => {
  const before = process.umask(0)
  try {
    const path = join(folder, 'private', 'data', 'there.db')
    const store = openStore(`sqlite:${path}`)
    await store.migrate()
    await store.addUser({ name: 'ann', createdAt: 1 })
    for (const file of filesOf(path)) expect([file, await modeOf(file)]).toEqual([file, '600'])
    for (const made of ['private', 'private/data']) expect(await modeOf(join(folder, made))).toBe('700')
    await store.close()
  } finally {
    process.umask(before)
  }
})

test('files from before are closed to others, and their folder stays as it is', async () => {
  const shared = join(folder, 'shared')
  await mkdir(shared)
  await chmod(shared, 0o755)
  const path = join(shared, 'there.db')
  const older = new DatabaseSync(path)
  older.exec('pragma journal_mode = wal; create table kept (value text); insert into kept values (1)')
  for (const file of filesOf(path)) await chmod(file, 0o644)
  const store = openSqlite(path)
  expect(await store.query(sql`select value from kept`)).toEqual([{ value: '1' }])
  for (const file of filesOf(path)) expect([file, await modeOf(file)]).toEqual([file, '600'])
  expect(await modeOf(shared)).toBe('755')
  await store.close()
  older.close()
})

test('files that a link leads to are closed to others where they are', async () => {
  const place = join(folder, 'place')
  await mkdir(place)
  const path = join(place, 'there.db')
  const older = new DatabaseSync(path)
  older.exec('pragma journal_mode = wal; create table kept (value text)')
  for (const file of filesOf(path)) await chmod(file, 0o644)
  await symlink(path, join(folder, 'link.db'))
  const store = openSqlite(join(folder, 'link.db'))
  expect(await store.query(sql`select value from kept`)).toEqual([])
  for (const file of filesOf(path)) expect([file, await modeOf(file)]).toEqual([file, '600'])
  await store.close()
  older.close()
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
