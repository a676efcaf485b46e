import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BatchOptions, sql } from '../../src/store/database/database.ts'
import { openSqlite } from '../../src/store/database/sqlite.ts'
import { createUsageStore } from '../../src/store/usage/usage.ts'

/** A file, because a database in memory has no journal. */
const withFile = async (use: (path: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-disk-'))
  try {
    await use(join(folder, 'test.db'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

// https://sqlite.org/pragma.html#pragma_synchronous
const [normal, full] = [1, 2]
const setting = sql`select synchronous from pragma_synchronous`

test('a batch waits for the disk unless it says otherwise, also after one that failed', async () => {
  await withFile(async (path) => {
    const database = openSqlite(path)
    const settingOf = async (options?: BatchOptions) => (await database.batch([setting], options))[0]?.[0]?.synchronous
    expect(await settingOf()).toBe(full)
    expect(await settingOf({ waitsForDisk: false })).toBe(normal)
    expect(await settingOf()).toBe(full)
    const failing = database.batch([sql`insert into nothing (n) values (1)`], { waitsForDisk: false })
    await expect(failing).rejects.toThrow()
    expect(await settingOf()).toBe(full)
    expect((await database.query(setting))[0]?.synchronous).toBe(full)
    await database.close()
  })
})

test('a batch that does not wait is there for another process at once, and after a process that did not close', async () => {
  await withFile(async (path) => {
    const [database, other] = [openSqlite(path), openSqlite(path)]
    await database.query(sql`create table numbers (n integer)`)
    await database.batch([sql`insert into numbers (n) values (1)`], { waitsForDisk: false })
    expect(await other.query(sql`select n from numbers`)).toEqual([{ n: 1 }])
    const script = `
      const { openSqlite } = await import(${JSON.stringify(join(import.meta.dir, '../../src/store/database/sqlite.ts'))})
      const { sql } = await import(${JSON.stringify(join(import.meta.dir, '../../src/store/database/database.ts'))})
      const database = openSqlite(${JSON.stringify(path)})
      await database.batch([sql\`insert into numbers (n) values (2)\`], { waitsForDisk: false })
      process.kill(process.pid, 'SIGKILL')`
    await Bun.spawn([process.execPath, '-e', script]).exited
    expect(await other.query(sql`select n from numbers order by n`)).toEqual([{ n: 1 }, { n: 2 }])
    await Promise.all([database.close(), other.close()])
  })
})

test('usage does not wait for the disk', async () => {
  const given: (BatchOptions | undefined)[] = []
  const database = openSqlite(':memory:')
  const usage = createUsageStore({
    ...database,
    async batch(_, options) {
      given.push(options)
      return []
    },
  })
  usage.recordUsage({ user: 'ann', model: 'm', at: 0, tokens: undefined })
  await usage.flushUsage()
  expect(given).toEqual([{ waitsForDisk: false }])
  await usage.closeUsage()
  await database.close()
})
