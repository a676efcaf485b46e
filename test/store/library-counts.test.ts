import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import type { Database } from '../../src/store/database/database.ts'
import { databaseKinds, openDatabase } from '../../src/store/database/kinds.ts'
import { fragment, type Statement, sql } from '../../src/store/database/statement.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { libraryCountTables } from '../../src/store/migrations/library-counts.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { migrations } from '../../src/store/migrations/migrations.ts'
import { eachDatabase, eachEmptyDatabase, migratedDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { wrongCounts as findWrong } from './library-counts.ts'

const textOf = (text: string): Statement => ({ strings: Object.assign([text], { raw: [text] }), values: [] })

const wrongCounts = (database: Database) => findWrong((text) => database.query(textOf(text)))

/** Mulberry32: the same numbers for the same seed. */
const randomFrom = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** Everything that changes groups or assets, of few users, groups and assets, in random order. */
const randomSteps = (stores: readonly Store[], seed: number) => {
  const random = randomFrom(seed)
  const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)] as Item
  const user = () => `user-${random(3)}`
  const group = () => `group-${random(6)}`
  const asset = () => `asset-${random(20)}`
  const account = () => pick([undefined, 'east', 'west'])
  const claim = async (store: Store, of: string, renames?: string) =>
    store.claim({
      ...{ user: of, type: 'AIGC', name: `name-${random(8)}`, createdAt: 1, dueAt: 9 },
      ...{ renames, account: account() },
    } as Parameters<Store['claim']>[0])
  const steps: readonly ((store: Store) => Promise<unknown>)[] = [
    async (store) => {
      const made = await claim(store, user())
      if (made) await store.confirm(made, { id: group(), createdAt: 1 })
    },
    async (store) => {
      const made = await claim(store, user())
      if (!made) return
      const [adopted, confirmed] = [group(), group()].map((id) => ({ id, createdAt: 1 }))
      if (adopted && confirmed)
        await Promise.all([store.adopt(made, adopted), store.confirm({ ...made, account: account() }, confirmed)])
    },
    async (store) => {
      const [made, of] = [await claim(store, user()), { id: group(), createdAt: 1 }]
      // An operator has adopted it, and did not know its account.
      if (made && (await store.confirm(made, of))) await store.confirm({ ...made, account: 'north' }, of)
    },
    async (store) => {
      const made = await claim(store, user())
      if (made) await store.adoptPendingGroup(made.id, { user: user(), group: group() })
    },
    async (store) => {
      const [of, renames] = [user(), group()]
      const made = await claim(store, of, renames)
      if (made) await store.confirm(made, { id: renames, createdAt: 1 })
    },
    async (store) => {
      const made = await claim(store, user())
      if (made) await store.release(made)
    },
    (store) =>
      store.adoptGroup({ id: group(), user: user(), type: 'AIGC', name: `name-${random(8)}`, createdAt: 1 } as never),
    (store) => store.removeGroup({ id: group(), user: user() }),
    // The asset of a group that has no owner any more goes to another one.
    async (store) => {
      const [removed, next, moved] = [group(), group(), asset()]
      await store.removeGroup({ id: removed, user: user() })
      await store.recordAsset(moved, removed)
      await store.recordAsset(moved, next)
    },
    ...[1, 2, 3, 4].map(() => (store: Store) => store.recordAsset(asset(), group())),
    ...[1, 2].map(() => async (store: Store) => store.markAssetDeleted?.(asset(), 5)),
  ]
  return () => pick(steps)(pick(stores))
}

/** @param after each round of steps at once */
const runRandomly = async (
  stores: readonly Store[],
  seed: number,
  after: (round: number) => Promise<unknown> = async () => {},
): Promise<void> => {
  const step = randomSteps(stores, seed)
  for (let round = 0; round < 15; round++) {
    await Promise.all(Array.from({ length: 12 }, step))
    await after(round)
  }
}

eachDatabase('how many groups and assets each user has', (tested) => {
  let database: Database
  beforeAll(() => {
    database = openDatabase(tested.url, { deadlineMs: 60_000 })
  })
  afterAll(() => database.close())

  test('is what there is, after everything that changes them, by three processes at once', async () => {
    const options = { deadlineMs: 60_000 }
    const stores = [await tested.open(options), await tested.open(options), await tested.open(options)]
    let most = 0
    for (const seed of [1, 2, 3])
      await runRandomly(stores, seed, async (round) => {
        expect([seed, round, await wrongCounts(database)]).toEqual([seed, round, []])
        const [all] = await database.query(sql`select sum(assets) as assets from library_counts`)
        most = Math.max(most, Number(all?.assets ?? 0))
      })
    expect(most).toBeGreaterThan(3)
  }, 300_000)

  test('is the use of the accounts', async () => {
    const store = await tested.open()
    for (const [group, account] of [
      ['used-1', 'south'],
      ['used-2', 'south'],
    ] as const) {
      await store.adoptGroup({ id: group, user: 'una', type: 'AIGC', name: group, account, createdAt: 1 })
      await store.recordAsset(`asset of ${group}`, group)
    }
    await store.markAssetDeleted?.('asset of used-1', 1)
    expect((await store.accountUse()).get('south')).toBe(3)
  })
})

const triggers = {
  sqlite: ['inserted_asset', 'deleted_asset', 'asset_before', 'asset_after'],
  postgres: ['inserted_asset', 'deleted_asset', 'updated_asset'],
} as const

describe.each(['sqlite', 'postgres'] as const)('a count is found wrong (%s)', (kind) => {
  const ofGroups = ['inserted_group', 'deleted_group', 'group_before', 'group_after'] as const
  test.each([...ofGroups, ...triggers[kind]])(
    'where the trigger %s is missing',
    async (name) => {
      const made = await migratedDatabase(kind)
      const store = openStore(made.url, { deadlineMs: 60_000 })
      const database = openDatabase(made.url, { deadlineMs: 60_000 })
      const table = name.includes('group') ? 'groups' : 'assets'
      await database.query(textOf(`drop trigger ${name}_counts ${kind === 'postgres' ? `on ${table}` : ''}`))
      await runRandomly([store], 1)
      expect(await wrongCounts(database)).not.toEqual([])
      await Promise.all([store.close(), database.close()])
      await made.remove()
    },
    300_000,
  )
})

describe('on PostgreSQL, while the asset of another transaction is not committed,', () => {
  /** What happens in the group of an asset, before the transaction that adds the asset ends. */
  const meanwhile = {
    'its group is removed': (store: Store) => store.removeGroup({ id: 'g', user: 'ann' }),
    'its group gets an owner': (store: Store) =>
      store.adoptGroup({ id: 'new', user: 'bob', type: 'AIGC', name: 'new', createdAt: 1 }),
  }
  const race = async (title: keyof typeof meanwhile, prepare?: Statement) => {
    const made = await migratedDatabase('postgres')
    const store = openStore(made.url, { deadlineMs: 60_000 })
    const database = openDatabase(made.url, { deadlineMs: 60_000 })
    if (prepare) await database.query(prepare)
    await store.adoptGroup({ id: 'g', user: 'ann', type: 'AIGC', name: 'g', createdAt: 1 })
    const other = postgres(made.url, { max: 1, onnotice: () => {} })
    let done: Promise<unknown> | undefined
    await other.begin(async (tx) => {
      // As an earlier version writes it, which does not ask for the owner.
      await tx`insert into assets (id, group_id) values ('a', 'g'), ('b', 'new')`
      done = meanwhile[title](store)
      const waits = async () =>
        (
          await database.query(
            sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
          )
        ).length > 0
      let isOver = false
      void done.finally(() => {
        isOver = true
      })
      await until(async () => isOver || (await waits()))
    })
    await done
    const wrong = await wrongCounts(database)
    await Promise.all([other.end({ timeout: 1 }), store.close(), database.close()])
    await made.remove()
    return wrong
  }

  test.each(Object.keys(meanwhile) as (keyof typeof meanwhile)[])('the counts are right when %s', async (title) => {
    expect(await race(title)).toEqual([])
    // Without the lock, they are not.
    const unlocked = sql`
      create or replace function lock_counted_group(id text) returns void language sql as $$ select null::void $$`
    expect(await race(title, unlocked)).toHaveLength(1)
  })
})

test('on PostgreSQL, a claim that is adopted and one of the same user that is confirmed do not deadlock', async () => {
  const made = await migratedDatabase('postgres')
  const store = openStore(made.url, { deadlineMs: 60_000 })
  const other = postgres(made.url, { max: 1, onnotice: () => {} })
  const observer = openDatabase(made.url, { deadlineMs: 60_000 })
  const claim = await store.claim({ user: 'ann', type: 'AIGC', name: 'cats', createdAt: 1, dueAt: 2 })
  if (!claim) throw new Error('the name is taken')
  let adopted: Promise<unknown> | undefined
  // The steps of `confirm`, with a pause.
  await other.begin(async (tx) => {
    await tx`
      insert into groups (id, group_id, user_id, type, name, state, created_at)
      values ('row', 'dogs', 'ann', 'AIGC', 'dogs', 'owned', 1)`
    adopted = store.adopt(claim, { id: 'cats', createdAt: 1 })
    const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    await until(async () => (await observer.query(waiting)).length > 0)
    // Throws where the other transaction has it.
    await tx`select value from revision for update nowait`
  })
  expect(await adopted).toBe('adopted')
  expect(await wrongCounts(observer)).toEqual([])
  await Promise.all([other.end({ timeout: 1 }), store.close(), observer.close()])
  await made.remove()
}, 60_000)

eachEmptyDatabase('the migration to counts of libraries', (tested) => {
  test('counts what there is', async () => {
    const database = databaseKinds[tested.kind].open(tested.url, { deadlineMs: 60_000 })
    await database.exclusively(() => migrate(1, migrations.slice(0, migrations.indexOf(libraryCountTables))))
    const groupOf = fragment`'group-' || (i % 40)`
    const numbers = fragment`
      with recursive numbers (i) as (select 0 union all select i + 1 from numbers where i < 399)`
    await database.query(sql`
      insert into groups (id, group_id, user_id, type, name, account, state, created_at, due_at)
      ${numbers}
      select 'row-' || i, ${groupOf}, 'user-' || (i % 7), 'AIGC', 'name-' || i, case i % 3 when 0 then null else 'east' end,
        case i % 5 when 0 then 'unresolved' else 'owned' end, 1, 2
      from numbers
      where i < 40`)
    await database.query(sql`
      insert into assets (id, group_id, deleted_at)
      ${numbers}
      select 'asset-' || i, 'group-' || (i % 50), case i % 4 when 0 then 3 end
      from numbers`)
    const store = openStore(tested.url, { deadlineMs: 60_000 })
    await store.migrate()
    expect(await wrongCounts(database)).toEqual([])
    const [all] = await database.query(sql`select sum(groups) as groups, sum(assets) as assets from library_counts`)
    expect([Number(all?.groups), Number(all?.assets)]).toEqual([32, 192])
    await store.recordAsset(`asset-${randomUUID()}`, 'group-1')
    expect(await wrongCounts(database)).toEqual([])
    await Promise.all([store.close(), database.close()])
  })
})
