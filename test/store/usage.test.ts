import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Database } from '../../src/store/database/database.ts'
import { StoreError } from '../../src/store/database/error.ts'
import { openPostgres } from '../../src/store/database/postgres.ts'
import { openSqlite } from '../../src/store/database/sqlite.ts'
import { sql } from '../../src/store/database/statement.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { migrations } from '../../src/store/migrations/migrations.ts'
import { createUsageStore } from '../../src/store/usage/usage.ts'
import { until } from '../routes/fixture.ts'
import { eachDatabase, freshDatabase } from '../support/database.ts'

const noon = Date.UTC(2026, 8, 21, 12)
const tokens = { input: 1_000, cachedInput: 400, output: 50, reasoning: 30 }
const counted = { inputTokens: 1_000, cachedTokens: 400, outputTokens: 50, reasoningTokens: 30 }
const nothing = { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 }

eachDatabase('usage', (database) => {
  let store: Store
  let other: Store
  beforeAll(async () => {
    store = await database.open()
    other = await database.open()
  })

  const entry = (user: string) => ({ user, model: 'm', at: noon, tokens })

  test('of 100 concurrent calls, in two stores, none is lost and none counts twice', async () => {
    const user = randomUUID()
    const calls = Array.from({ length: 100 }, (_, nth) => ({
      ...entry(user),
      model: nth % 4 === 0 ? 'b' : 'a',
      tokens: nth % 10 === 0 ? undefined : { input: nth, cachedInput: 1, output: 2 * nth, reasoning: 2 },
    }))
    for (const [nth, call] of calls.entries()) (nth % 2 ? store : other).recordUsage(call)
    await Promise.all([store.flushUsage(), other.flushUsage()])
    const sumsOf = (model: string) => {
      const own = calls.filter((call) => call.model === model)
      const reported = own.flatMap((call) => call.tokens ?? [])
      const input = reported.reduce((sum, each) => sum + each.input, 0)
      const details = { cachedTokens: reported.length, reasoningTokens: 2 * reported.length }
      const unreported = own.length - reported.length
      return { calls: own.length, unreported, inputTokens: input, outputTokens: 2 * input, ...details }
    }
    expect(await store.listUsage({ user })).toEqual([
      { user, model: 'a', day: '2026-09-21', ...sumsOf('a') },
      { user, model: 'b', day: '2026-09-21', ...sumsOf('b') },
    ])
  })

  test('a call whose tokens were not reported counts as a call, and as unreported', async () => {
    const user = randomUUID()
    const row = { user, model: 'm', day: '2026-09-21' }
    store.recordUsage({ ...entry(user), tokens: undefined })
    expect(await store.listUsage({ user })).toEqual([{ ...row, calls: 1, unreported: 1, ...nothing }])
    store.recordUsage(entry(user))
    expect(await store.listUsage({ user })).toEqual([{ ...row, calls: 2, unreported: 1, ...counted }])
  })

  test('a day ends at midnight in UTC', async () => {
    const user = randomUUID()
    const midnight = Date.UTC(2026, 8, 22)
    for (const at of [midnight - 1, midnight, midnight + 1, midnight + 86_400_000 - 1, midnight + 86_400_000]) {
      store.recordUsage({ ...entry(user), at })
    }
    const days = (await store.listUsage({ user })).map(({ day, calls }) => ({ day, calls }))
    expect(days).toEqual([
      { day: '2026-09-21', calls: 1 },
      { day: '2026-09-22', calls: 3 },
      { day: '2026-09-23', calls: 1 },
    ])
  })

  test('days are filtered from the first to the last, both inclusive', async () => {
    const user = randomUUID()
    for (const day of [1, 2, 3, 4]) store.recordUsage({ ...entry(user), at: Date.UTC(2026, 0, day) })
    const days = async (filter: { since?: string; until?: string }) =>
      (await store.listUsage({ user, ...filter })).map(({ day }) => Number(day.slice(-2)))
    expect(await days({ since: '2026-01-02', until: '2026-01-03' })).toEqual([2, 3])
    expect(await days({ since: '2026-01-03' })).toEqual([3, 4])
    expect(await days({ until: '2026-01-02' })).toEqual([1, 2])
    expect(await days({ since: '2026-01-05' })).toEqual([])
  })

  test('known users and tokens have their names, and rows are sorted by day, user, token and model', async () => {
    const [zoe, ann] = [`zoe-${randomUUID()}`, `ann-${randomUUID()}`]
    const zoeId = (await store.addUser({ name: zoe, createdAt: 1 })) ?? ''
    const annId = (await store.addUser({ name: ann, createdAt: 1 })) ?? ''
    const made = { user: annId, hash: randomUUID(), start: 'sk-abcdef', label: 'laptop', createdAt: 2 }
    const token = await store.addToken(made)
    const unknownUser = `m-${randomUUID()}`
    const early = { at: Date.UTC(2020, 0, 1) }
    const late = { at: Date.UTC(2020, 0, 2) }
    for (const more of [
      { user: annId, ...late },
      { user: zoeId, ...early },
      { user: unknownUser, token: 'gone', ...early },
      { user: annId, token, model: 'b', ...early },
      { user: annId, token, model: 'B', ...early },
      { user: annId, ...early },
    ]) {
      store.recordUsage({ ...entry(more.user), ...more })
    }
    const rest = { calls: 1, unreported: 0, ...counted }
    const first = { day: '2020-01-01', ...rest }
    const known = { token, tokenLabel: 'laptop', tokenStart: 'sk-abcdef' }
    const rows = await store.listUsage({ until: '2020-12-31' })
    expect(rows).toEqual([
      { user: annId, userName: ann, model: 'm', ...first },
      { user: annId, userName: ann, ...known, model: 'B', ...first },
      { user: annId, userName: ann, ...known, model: 'b', ...first },
      { user: unknownUser, token: 'gone', model: 'm', ...first },
      { user: zoeId, userName: zoe, model: 'm', ...first },
      { user: annId, userName: ann, model: 'm', ...rest, day: '2020-01-02' },
    ])
    await store.revokeToken(token, 5)
    await store.disableUser(ann, 5)
    expect(await store.listUsage({ until: '2020-12-31' })).toEqual(rows)
    expect(await store.listUsage({ user: zoeId })).toEqual(rows.filter(({ user }) => user === zoeId))
  })

  test('recording usage does not raise the revision', async () => {
    const before = await store.revision()
    store.recordUsage(entry(randomUUID()))
    await store.flushUsage()
    expect(await store.revision()).toBe(before)
  })

  describe('a model', () => {
    const recorded = async (...models: readonly string[]) => {
      const user = randomUUID()
      for (const model of models) store.recordUsage({ ...entry(user), model })
      return (await store.listUsage({ user })).map(({ model, calls }) => ({ model, calls }))
    }

    test.each([
      ['a\0b\tc\nd\u007fe\u0085', 'a\ufffdb\ufffdc\ufffdd\ufffde\ufffd'],
      ['\ud800a\udc00', '\ufffda\ufffd'],
      ['', ''],
      ['豆包 🦆', '豆包 🦆'],
    ])('%j is kept as %j', async (model, kept) => {
      expect(await recorded(model)).toEqual([{ model: kept, calls: 1 }])
    })

    test('has at most 256 characters, and is cut between characters', async () => {
      const long = '🦆'.repeat(256)
      expect(await recorded(long, `${long}x`, `${long}🦆🦆`, long + '\ud83e'.repeat(2 ** 20))).toEqual([
        { model: long, calls: 4 },
      ])
      expect(await recorded(`x${'🦆'.repeat(256)}`)).toEqual([{ model: `x${'🦆'.repeat(255)}`, calls: 1 }])
    })

    test('is one of 100 that a token may have in a day; further models are counted as one', async () => {
      const user = randomUUID()
      const record = (model: string, more = {}) => store.recordUsage({ ...entry(user), model, ...more })
      for (let nth = 0; nth < 103; nth++) {
        record(`model-${nth}`)
        await store.flushUsage()
      }
      record('model-7')
      record('model-102')
      const rows = await store.listUsage({ user })
      const calls = new Map(rows.map((row) => [row.model, row.calls]))
      expect(calls.size).toBe(101)
      expect(calls.get('model-7')).toBe(2)
      expect(calls.get('model-99')).toBe(1)
      expect(calls.get('other')).toBe(4)
      expect(rows.reduce((sum, row) => sum + row.inputTokens, 0)).toBe(105_000)

      record('new', { token: 't' })
      record('new', { at: noon + 86_400_000 })
      store.recordUsage({ ...entry(randomUUID()), model: 'new' })
      const fresh = (await store.listUsage({ user })).filter(({ model }) => model === 'new')
      expect(fresh.map(({ token, day }) => ({ token, day }))).toEqual([
        { token: 't', day: '2026-09-21' },
        { token: undefined, day: '2026-09-22' },
      ])
    })
  })

  test('a call with text that a database would not store is rejected, and other calls are written', async () => {
    const user = randomUUID()
    store.recordUsage(entry(user))
    for (const odd of ['\0', '\ud800']) {
      expect(() => store.recordUsage({ ...entry(user), user: odd })).toThrow(TypeError)
      expect(() => store.recordUsage({ ...entry(user), token: odd })).toThrow(TypeError)
    }
    expect((await store.listUsage({ user })).map(({ calls }) => calls)).toEqual([1])
  })

  test('a call with ids too long for an index is rejected, and other calls are written', async () => {
    const user = randomUUID()
    // Random, because PostgreSQL compresses repeated text; and four bytes a character.
    const longest = Array.from({ length: 300 }, (_, nth) =>
      String.fromCodePoint(0x10000 + ((nth * 48_271) % 65_521)),
    ).join('')
    const ids = Array.from({ length: 200 }, () => randomUUID()).join('')
    expect(() => store.recordUsage({ ...entry(ids), model: longest })).toThrow(TypeError)
    expect(() => store.recordUsage({ ...entry(user), token: ids.slice(0, 1_465) })).toThrow(TypeError)
    expect(() => store.recordUsage({ ...entry('é'.repeat(751)) })).toThrow(TypeError)
    store.recordUsage({ ...entry(user), token: ids.slice(0, 1_464), model: longest })
    store.recordUsage(entry(user))
    expect((await store.listUsage({ user })).map(({ calls }) => calls)).toEqual([1, 1])
  })

  test('another process sees usage after the buffer’s timer, and after the store has closed', async () => {
    const user = randomUUID()
    const calls = async () => (await other.listUsage({ user }))[0]?.calls
    store.recordUsage(entry(user))
    await until(async () => (await calls()) === 1)
    const closing = await database.open()
    closing.recordUsage(entry(user))
    await closing.close()
    expect(await calls()).toBe(2)
  })

  describe('a batch that was written, although its call rejected,', () => {
    const open = () =>
      database.kind === 'sqlite'
        ? openSqlite(database.url.slice(7))
        : openPostgres(database.url, { deadlineMs: 60_000 })

    test('counts once', async () => {
      const user = randomUUID()
      const connection = open()
      let attempts = 0
      const deaf: Database = {
        ...connection,
        async batch(statements) {
          attempts++
          const rows = await connection.batch(statements)
          if (attempts === 1) throw new StoreError('the database did not respond in time')
          return rows
        },
      }
      const used = createUsageStore(deaf)
      used.recordUsage(entry(user))
      expect(await used.flushUsage().catch((error: unknown) => error)).toBeInstanceOf(StoreError)
      used.recordUsage(entry(user))
      await used.flushUsage()
      expect(attempts).toBe(3)
      expect((await store.listUsage({ user })).map(({ calls }) => calls)).toEqual([2])
      await used.closeUsage()
      await connection.close()
    })

    test('counts once when the first attempt is still running, and leaves no growing table behind', async () => {
      const user = randomUUID()
      const connection = open()
      let attempts = 0
      const late: Promise<unknown>[] = []
      const hasty: Database = {
        ...connection,
        async batch(statements) {
          const written = connection.batch(statements)
          if (++attempts !== 1) return written
          late.push(written.catch(() => {}))
          throw new StoreError('the database did not respond in time')
        },
      }
      const used = createUsageStore(hasty)
      const count = async () =>
        Number((await connection.query(sql`select count(*) as n from text_usage_batches`))[0]?.n)
      const before = await count()
      for (let nth = 0; nth < 5; nth++) {
        used.recordUsage(entry(user))
        await used.flushUsage().catch(() => {})
      }
      await used.flushUsage()
      await Promise.all(late)
      expect((await store.listUsage({ user })).map(({ calls }) => calls)).toEqual([5])
      expect(await count()).toBe(before + 1)
      await used.closeUsage()
      await connection.close()
    })
  })

  test('migrating an older database keeps its usage', async () => {
    const { url, remove } = await freshDatabase(database.kind)
    const before = database.kind === 'sqlite' ? openSqlite(url.slice(7)) : openPostgres(url, { deadlineMs: 60_000 })
    await before.exclusively(() => migrate(1, migrations.slice(0, 3)))
    await before.query(sql`insert into users (id, name, created_at) values ('u', 'ann', 1)`)
    await before.query(sql`
      insert into tokens (id, user_id, hash, start, created_at)
      values ('t', 'u', 'h', 'sk-abcdef', 1)`)
    await before.close()
    const migrated = openStore(url, { deadlineMs: 60_000 })
    await migrated.migrate()
    expect(await migrated.ownerOf('h')).toMatchObject({ user: 'u', token: 't' })
    migrated.recordUsage({ ...entry('u'), token: 't' })
    const known = { user: 'u', userName: 'ann', token: 't', tokenStart: 'sk-abcdef' }
    expect(await migrated.listUsage()).toEqual([
      { ...known, model: 'm', day: '2026-09-21', calls: 1, unreported: 0, ...counted },
    ])
    await migrated.close()
    await remove()
  })
})
