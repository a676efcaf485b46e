import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../../plugins/shared/clock.ts'
import { hasNoSpace } from '../../plugins/shared/no-space.ts'
import { DatabaseFullError } from '../../src/store/database/error.ts'
import { openPostgres } from '../../src/store/database/postgres.ts'
import { sql } from '../../src/store/database/statement.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { freshDatabase } from '../support/database.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** A store on a file, with the connection on which SQLite's own bound of pages stands for that of a disk. */
const openBounded = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-full-'))
  folders.push(folder)
  const connections = new Set<DatabaseSync>()
  const { prepare } = DatabaseSync.prototype
  const preparing = spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (this: DatabaseSync, text) {
    connections.add(this)
    return prepare.call(this, text)
  })
  let now = Date.now()
  const store = openStore(`sqlite:${join(folder, 'x.db')}`, { clock: { ...systemClock, now: () => now } })
  await store.migrate()
  preparing.mockRestore()
  const [connection] = connections
  if (!connection) throw new Error('the store has no connection')
  const { page_count: pages } = connection.prepare('pragma page_count').get() as { page_count: number }
  return {
    store,
    setFull: (full: boolean) => connection.exec(`pragma max_page_count = ${full ? pages + 10 : 2 ** 30}`),
    wait: (ms: number) => {
      now += ms
    },
    [Symbol.asyncDispose]: () => store.close(),
  }
}

/** Adds users until there is no room. Resolves with their names, and with the error. */
const fill = async (store: Store): Promise<{ readonly written: readonly string[]; readonly failure: unknown }> => {
  const written: string[] = []
  for (;;) {
    const name = `user ${written.length} ${'x'.repeat(2_000)}`
    try {
      await store.addUser({ name, createdAt: 1 })
    } catch (failure) {
      return { written, failure }
    }
    written.push(name)
  }
}

const messageOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'resolved',
    (error: Error) => error.name,
  )

describe('on SQLite, a database without room', () => {
  test('rejects writes with DatabaseFullError, is not ready, and loses nothing that was written', async () => {
    await using bounded = await openBounded()
    const { store } = bounded
    bounded.setFull(true)
    const { written, failure } = await fill(store)
    expect(failure).toBeInstanceOf(DatabaseFullError)
    expect(hasNoSpace(failure)).toBe(true)
    expect(written.length).toBeGreaterThan(1)
    expect(await messageOf(store.ready())).toBe('DatabaseFullError')
    expect((await store.listUsers()).map(({ name }) => name).toSorted()).toEqual(written.toSorted())
  })

  test('is found by ready, also if no other write has failed', async () => {
    await using bounded = await openBounded()
    const { store } = bounded
    bounded.setFull(true)
    expect(await messageOf(store.ready())).toBe('DatabaseFullError')
  })

  test('is known before a call of an upstream, at no cost while there is room', async () => {
    await using bounded = await openBounded()
    const { store } = bounded
    expect(store.requireRoom?.()).toBeUndefined()
    bounded.setFull(true)
    await fill(store)
    expect(await messageOf(Promise.resolve(store.requireRoom?.()))).toBe('DatabaseFullError')
    bounded.setFull(false)
    bounded.wait(10_000)
    expect(await messageOf(Promise.resolve(store.requireRoom?.()))).toBe('resolved')
    expect(store.requireRoom?.()).toBeUndefined()
  })

  test('lists the usage that was written, and loses none that was not', async () => {
    await using bounded = await openBounded()
    const { store } = bounded
    bounded.setFull(true)
    let calls = 0
    let written = true
    while (written) {
      store.recordUsage({ user: `user ${calls++} ${'x'.repeat(1_400)}`, model: 'm', at: 1, tokens: undefined })
      written = await store.flushUsage().then(
        () => true,
        () => false,
      )
    }
    expect(calls).toBeGreaterThan(1)
    expect(await store.listUsage()).toHaveLength(calls - 1)
    bounded.setFull(false)
    expect(await store.listUsage()).toHaveLength(calls)
  })

  test('writes again as soon as there is room, and is ready ten seconds later, without a restart', async () => {
    await using bounded = await openBounded()
    const { store } = bounded
    expect(await messageOf(store.ready())).toBe('resolved')
    bounded.setFull(true)
    await fill(store)
    expect(await messageOf(store.ready())).toBe('DatabaseFullError')
    bounded.setFull(false)
    // Another write has failed a moment ago.
    expect(await messageOf(store.ready())).toBe('DatabaseFullError')
    bounded.wait(10_000)
    expect(await messageOf(store.ready())).toBe('resolved')
    expect(await messageOf(store.addUser({ name: 'two', createdAt: 1 }))).toBe('resolved')
  })
})

test('on PostgreSQL, disk_full is a DatabaseFullError, which the store notices', async () => {
  const database = await freshDatabase('postgres')
  const errors: unknown[] = []
  const connection = openPostgres(database.url, { deadlineMs: 3_000, onError: (error) => errors.push(error) })
  try {
    const failed = connection.query(sql`do $$ begin raise exception 'no space left' using errcode = '53100'; end $$`)
    expect(await messageOf(failed)).toBe('DatabaseFullError')
    expect(errors.map(hasNoSpace)).toEqual([true])
    expect(await messageOf(connection.query(sql`select nothing`))).toBe('StoreError')
  } finally {
    await connection.close()
    await database.remove()
  }
})
