import { expect, test } from 'bun:test'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import { openStore } from '../../src/store/index.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { migrations } from '../../src/store/migrations/migrations.ts'
import { renamingIndexes } from '../../src/store/migrations/tables/library.ts'
import { eachEmptyDatabase } from '../support/database.ts'

const before = migrations.slice(0, migrations.indexOf(renamingIndexes))

eachEmptyDatabase('a database of a version in which a group could have several open renamings', (tested) => {
  test('keeps them all, and the newest one of each group bars others', async () => {
    const database = databaseKinds[tested.kind].open(tested.url, { deadlineMs: 60_000 })
    await database.exclusively(() => migrate(1, before))
    await database.query(sql`
      insert into groups (id, group_id, user_id, type, name, renames, state, created_at, due_at)
      values ('g', 'up-1', 'ann', 'AIGC', 'cats', null, 'owned', 1, null),
        ('a', null, 'ann', 'AIGC', 'dogs', 'up-1', 'pending', 2, 3),
        ('c', null, 'ann', 'AIGC', 'birds', 'up-1', 'unresolved', 4, 5),
        ('b', null, 'ann', 'AIGC', 'fish', 'up-1', 'pending', 4, 5),
        ('d', null, 'ann', 'AIGC', 'mice', 'up-2', 'pending', 4, 5),
        ('e', null, 'ann', 'AIGC', 'new', null, 'pending', 4, 5),
        ('f', null, 'ann', 'AIGC', 'newer', null, 'pending', 4, 5)`)
    const store = openStore(tested.url, { deadlineMs: 60_000 })
    await store.migrate()
    expect((await store.openClaims()).map(({ id, group }) => [id, group ?? null])).toEqual([
      ...[
        ['a', 'up-1'],
        ['b', 'up-1'],
        ['c', null],
        ['d', null],
        ['e', null],
        ['f', null],
      ],
    ])
    const renames = (group: string) =>
      store.claim({ user: 'ann', type: 'AIGC', name: 'owls', renames: group, createdAt: 9, dueAt: 10 })
    expect(await renames('up-1')).toBeUndefined()
    expect(await renames('up-2')).toBeUndefined()
    expect(await renames('up-3')).toMatchObject({ state: 'pending' })
    await Promise.all([database.close(), store.close()])
  })
})
