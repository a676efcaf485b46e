import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type { Database } from '../../src/store/database/database.ts'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import { type Statement, sql } from '../../src/store/database/statement.ts'
import { openStore } from '../../src/store/index.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { migrations } from '../../src/store/migrations/migrations.ts'
import { hostUserTables } from '../../src/store/migrations/tables/people.ts'
import { eachEmptyDatabase } from '../support/database.ts'

const before = migrations.slice(0, migrations.indexOf(hostUserTables))
const digest = createHash('sha256').update('p').digest('hex')

/** Rows of an old version: users of every kind, and tokens and sessions with every column set or empty. */
const oldRows: readonly Statement[] = [
  sql`
    insert into users (id, name, password, created_at, disabled_at)
    values ('u1', 'ann', 'p', 1, null), ('u2', 'bob', null, 2, 7)`,
  sql`
    insert into tokens (id, user_id, hash, start, label, created_at, expires_at, revoked_at)
    values ('t1', 'u1', 'h1', 'sk-1', 'ci', 1790000000123, 1890000000456, null),
      ('t2', 'u1', 'h2', 'sk-2', null, 3, null, 9),
      ('t3', 'u2', 'h3', 'sk-3', null, 4, null, null)`,
  sql`
    insert into sessions (hash, user_id, password_hash, created_at, idle_until, ends_at)
    values ('s1', 'u1', ${digest}, 5, 1790000000123, 1890000000456), ('s2', 'u2', 'other', 5, 6, 7)`,
]

const tokenRows = (database: Database) =>
  database.query(sql`
    select id, user_id, hash, start, label, created_at, expires_at, revoked_at
    from tokens
    order by id`)

const sessionRows = (database: Database) =>
  database.query(sql`
    select hash, user_id, password_hash, created_at, idle_until, ends_at
    from sessions
    order by hash`)

eachEmptyDatabase('a database of a version whose tokens and sessions had foreign keys', (tested) => {
  const indices = (database: Database) =>
    database.query<{ name: string }>(
      tested.kind === 'sqlite'
        ? sql`
            select name
            from sqlite_master
            where type = 'index' and tbl_name in ('tokens', 'sessions') and sql is not null
            order by name`
        : sql`
            select indexname as name
            from pg_indexes
            where tablename in ('tokens', 'sessions') and indexname not like '%key%'
            order by name`,
    )

  test('keeps all rows and indices, and takes tokens of users of a host app', async () => {
    const database = databaseKinds[tested.kind].open(tested.url, { deadlineMs: 60_000 })
    await database.exclusively(() => migrate(1, before))
    await database.batch(oldRows)
    const [tokens, sessions, indexNames] = [
      await tokenRows(database),
      await sessionRows(database),
      await indices(database),
    ]
    expect(indexNames.length).toBeGreaterThan(5)

    const store = openStore(tested.url, { deadlineMs: 60_000 })
    await store.migrate()
    expect(await tokenRows(database)).toEqual(tokens)
    expect(await sessionRows(database)).toEqual(sessions)
    // A later version has replaced it.
    const kept = indexNames.filter(({ name }) => name !== 'tokens_by_age')
    expect(await indices(database)).toEqual(expect.arrayContaining(kept))
    expect(await store.ownerOf('h1')).toEqual({
      ...{ user: 'u1', token: 't1', expiresAt: 1_890_000_000_456 },
      ...{ role: 'user', scopes: ['media', 'text', 'video'] },
    })
    expect(await store.ownerOf('h2')).toBeUndefined()
    expect(await store.ownerOf('h3')).toBeUndefined()
    expect(await store.session('s1')).toEqual({
      ...{ id: expect.any(String), user: 'u1', name: 'ann', role: 'user' },
      ...{ idleUntil: 1_790_000_000_123, endsAt: 1_890_000_000_456 },
    })
    expect(await store.session('s2')).toBeUndefined()
    const added = { user: 'of the host', start: 'sk-', createdAt: 5 }
    expect(await store.addToken({ ...added, hash: 'h4' })).toBeString()
    expect((await store.ownerOf('h4'))?.user).toBe('of the host')
    await expect(store.addToken({ ...added, hash: 'h1' })).rejects.toThrow()
    await Promise.all([database.close(), store.close()])
  })
})
