import { expect, test } from 'bun:test'
import type { Database } from '../../src/store/database/database.ts'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import { type Statement, sql } from '../../src/store/database/statement.ts'
import { openStore } from '../../src/store/index.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { migrations } from '../../src/store/migrations/migrations.ts'
import { peopleIndexes, peopleTables } from '../../src/store/migrations/tables/people.ts'
import { eachEmptyDatabase, freshDatabase } from '../support/database.ts'

const before = migrations.slice(0, migrations.indexOf(peopleTables))

/** Users of an old version: more than a page, with names that differ in case only, and letters outside ASCII. */
const manyUsers: Statement = sql`
  with recursive numbers (number) as (
    select 1
    union all
    select number + 1
    from numbers
    where number < 1200
  )
  insert into users (id, name, created_at)
  select 'many-' || number, 'User ' || number, 1000 + number
  from numbers`

const oldRows: readonly Statement[] = [
  manyUsers,
  sql`
    insert into users (id, name, password, created_at, disabled_at)
    values ('u1', 'Ann', 'p', 2, null), ('u2', 'ANN', null, 1, null), ('u3', 'ann', null, 3, 9), ('u4', 'ÉVA Ⅷ', null, 4, null),
      ('u5', 'b', null, 5, null)`,
  sql`
    insert into tokens (id, user_id, hash, start, label, created_at, expires_at, revoked_at)
    values ('t1', 'u1', 'h1', 'sk-1', 'ÉVA Ⅷ', 1, null, null)`,
  sql`
    insert into sessions (hash, user_id, password_hash, created_at, idle_until, ends_at)
    values ('s1', 'u1', 'd', 5, 6, 7), ('s2', 'u1', 'd', 5, 6, 7)`,
]

const users = (database: Database) =>
  database.query(sql`
    select id, name, name_key, name_shared, role, service, created_at, disabled_at, password
    from users
    where id in ('u1', 'u2', 'u3', 'u4', 'u5', 'many-1', 'many-1200')
    order by id`)

eachEmptyDatabase('a database of a version without roles and teams', (tested) => {
  test('keeps users, tokens and sessions, which get the defaults', async () => {
    const database = databaseKinds[tested.kind].open(tested.url, { deadlineMs: 60_000 })
    await database.exclusively(() => migrate(1, before))
    await database.batch(oldRows)
    const store = openStore(tested.url, { deadlineMs: 60_000 })
    await store.migrate()
    const user = { role: 'user', service: 0, name_shared: 0 }
    expect(await users(database)).toEqual([
      { ...user, id: 'many-1', name: 'User 1', name_key: 'user 1', created_at: 1_001 },
      { ...user, id: 'many-1200', name: 'User 1200', name_key: 'user 1200', created_at: 2_200 },
      { ...user, id: 'u1', name: 'Ann', name_key: 'ann', name_shared: 1, created_at: 2, password: 'p' },
      { ...user, id: 'u2', name: 'ANN', name_key: 'ann', created_at: 1 },
      { ...user, id: 'u3', name: 'ann', name_key: 'ann', name_shared: 1, created_at: 3, disabled_at: 9 },
      { ...user, id: 'u4', name: 'ÉVA Ⅷ', name_key: 'éva viii', created_at: 4 },
      { ...user, id: 'u5', name: 'b', name_key: 'b', created_at: 5 },
    ])
    expect(await database.query(sql`select id, user_id, hash, label, label_key, scopes from tokens`)).toEqual([
      { id: 't1', user_id: 'u1', hash: 'h1', label: 'ÉVA Ⅷ', label_key: 'éva viii', scopes: 'media text video' },
    ])
    const sessions = await database.query(sql`select id, hash, user_id from sessions order by hash`)
    expect(sessions.map(({ hash, user_id }) => [hash, user_id])).toEqual([
      ['s1', 'u1'],
      ['s2', 'u1'],
    ])
    expect(new Set(sessions.map(({ id }) => id)).size).toBe(2)
    expect(await database.query(sql`select part from user_name_parts where user_id = 'u4' order by part`)).toHaveLength(
      6,
    )
    expect(await database.query(sql`select user_id from user_name_parts where part = 'ann' order by user_id`)).toEqual([
      { user_id: 'u1' },
      { user_id: 'u2' },
      { user_id: 'u3' },
    ])
    expect(await database.query(sql`select count(*) as n from user_name_parts where part = '120'`)).toEqual([{ n: 3 }])
    await Promise.all([database.close(), store.close()])
  })

  test('counts the users of each team', async () => {
    const { url, remove } = await freshDatabase(tested.kind)
    const database = databaseKinds[tested.kind].open(url, { deadlineMs: 60_000 })
    await database.exclusively(() => migrate(1, migrations.slice(0, migrations.indexOf(peopleIndexes))))
    await database.batch([
      sql`insert into teams (id, name, name_key, created_at) values ('t1', 'A', 'a', 1), ('t2', 'B', 'b', 1)`,
      sql`insert into users (id, name, team_id, created_at) values ('u1', 'x', 't1', 1), ('u2', 'y', 't1', 1)`,
    ])
    const store = openStore(url, { deadlineMs: 60_000 })
    await store.migrate()
    expect([(await store.team('t1'))?.members, (await store.team('t2'))?.members]).toEqual([2, 0])
    await Promise.all([database.close(), store.close()])
    await remove()
  })
})
