import { expect, spyOn, test } from 'bun:test'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Row, Steps, WriteOptions } from '../../src/store/database/database.ts'
import { openSqlite } from '../../src/store/database/sqlite.ts'
import { sql } from '../../src/store/database/statement.ts'
import { openStore, type Store } from '../../src/store/index.ts'

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

test('a write waits for the disk unless it says otherwise, also after one that failed', async () => {
  await withFile(async (path) => {
    const database = openSqlite(path)
    const options = { waitsForDisk: false }
    const batched = async (given?: WriteOptions) => (await database.batch([setting], given))[0]?.[0]?.synchronous
    const inSteps = async (given?: WriteOptions) => (await database.transaction(() => steps(), given))[0]?.synchronous
    function* steps(): Steps<readonly Row[]> {
      return yield setting
    }
    for (const settingOf of [batched, inSteps]) {
      expect(await settingOf()).toBe(full)
      expect(await settingOf(options)).toBe(normal)
      expect(await settingOf()).toBe(full)
      expect(await settingOf(options)).toBe(normal)
      await database.query(sql`create table if not exists numbers (n integer)`)
      expect((await database.query(setting))[0]?.synchronous).toBe(full)
      await database.query(sql`insert into numbers (n) values (1)`, options)
      expect((await database.query(setting))[0]?.synchronous).toBe(normal)
      const failing = database.batch([sql`insert into nothing (n) values (1)`], options)
      await expect(failing).rejects.toThrow()
      expect(await settingOf()).toBe(full)
    }
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
      const { sql } = await import(${JSON.stringify(join(import.meta.dir, '../../src/store/database/statement.ts'))})
      const database = openSqlite(${JSON.stringify(path)})
      await database.batch([sql\`insert into numbers (n) values (2)\`], { waitsForDisk: false })
      process.kill(process.pid, 'SIGKILL')`
    await Bun.spawn([process.execPath, '-e', script]).exited
    expect(await other.query(sql`select n from numbers order by n`)).toEqual([{ n: 1 }, { n: 2 }])
    await Promise.all([database.close(), other.close()])
  })
})

/** Calls that need not wait, in their order. Others do. */
const unsynced: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  async usage(store) {
    store.recordUsage({ user: 'ann', model: 'm', at: 0, tokens: undefined })
    await store.flushUsage()
  },
  async 'last uses'(store) {
    store.noteUse({ user: 'ann', at: 0 })
    await store.flushUses()
  },
  'taking a lease': (store) => store.takeLease('sweep', 'a', 0, 1_000),
  'releasing a lease': (store) => store.releaseLease('sweep', 'a'),
  'an exchange of limits': (store) =>
    store.limits.exchange({ holder: 'process:a', seq: 1, now: 0, leaseUntil: 1_000, changes: [] }),
  'a slot of a rate limit': (store) =>
    store.rateLimits.takeInTurn({ action: 'a', count: 1, user: 'ann', now: 0, leaseUntil: 1_000, periodMs: 1_000 }),
  'counts of metrics': (store) => store.addMetricCounts({ counts: [{ series: ['a'], value: 1 }], peaks: [] }, 0),
}

test('usage, its limits, leases and counts do not wait for the disk, and the sums of usage do', async () => {
  await withFile(async (path) => {
    const store = openStore(`sqlite:${path}`)
    await store.migrate()
    const exec = spyOn(DatabaseSync.prototype, 'exec')
    const settingsOf = async (call: (store: Store) => Promise<unknown>) => {
      exec.mockClear()
      await call(store)
      const { calls, contexts } = exec.mock
      // Stores of other test files may write in this process, too.
      const own = calls.filter((_, nth) => (contexts[nth] as DatabaseSync).location() === realpathSync(path))
      return own.map(([text]) => text).filter((text) => text.includes('synchronous'))
    }
    const waiting = (store: Store) => store.claim({ user: 'ann', type: 'AIGC', name: 'cats', createdAt: 1, dueAt: 2 })
    for (const [what, call] of Object.entries(unsynced)) {
      expect([what, await settingsOf(call)]).toEqual([what, ['pragma synchronous = normal']])
      expect(await settingsOf(waiting)).toEqual(['pragma synchronous = full'])
    }
    // So at most the usage of the two seconds before its sums can be undone.
    expect(await settingsOf((store) => store.takeLease('sweep', 'a', 0, 1_000))).toEqual([
      'pragma synchronous = normal',
    ])
    const summing = (store: Store) => store.sumUsage({ filter: {}, by: [], limit: 1 })
    expect(await settingsOf(summing)).toEqual(['pragma synchronous = full'])
    exec.mockRestore()
    await store.close()
  })
})
