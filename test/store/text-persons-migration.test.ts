import { expect, test } from 'bun:test'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import { openStore } from '../../src/store/index.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { migrations } from '../../src/store/migrations/migrations.ts'
import { personsOfEarlierTexts } from '../../src/store/migrations/tables/consents.ts'
import { eachEmptyDatabase } from '../support/database.ts'

const at = Date.UTC(2026, 10, 1)

eachEmptyDatabase('the migration of text objects from before it was known whom they show', (tested) => {
  test('has them show every person of their user, and what is recorded later only its own', async () => {
    const database = databaseKinds[tested.kind].open(tested.url, { deadlineMs: 60_000 })
    await database.exclusively(() => migrate(1, migrations.slice(0, migrations.indexOf(personsOfEarlierTexts))))
    for (const [group, owner, withdrawn] of [
      ['face 1', 'ann', null],
      ['face "2"', 'ann', 5],
      ['face 3', 'bob', null],
    ] as const)
      await database.query(sql`
        insert into consents (group_id, owner_id, withdrawn_at)
        values (${group}, ${owner}, ${withdrawn ?? undefined})`)
    for (const [kind, id, user, persons] of [
      ['response', 'resp_1', 'ann', undefined],
      ['conversation', 'conv_1', 'ann', '["face 0","face 1"]'],
      ['item', 'msg_1', 'bob', undefined],
      ['response', 'resp_2', 'cat', undefined],
    ] as const)
      await database.query(sql`
        insert into text_objects (kind, id, user_id, upstream, model, created_at, expires_at, persons)
        values (${kind}, ${id}, ${user}, 'https://upstream.example/v1', 'm', 1, ${at}, ${persons})`)
    const store = openStore(tested.url, { deadlineMs: 60_000 })
    await store.migrate()
    const personsOf = async (user: string, kind: 'response' | 'conversation' | 'item', id: string) =>
      (await store.findTextObject(user, kind, id, 1))?.persons?.toSorted()
    expect(await personsOf('ann', 'response', 'resp_1')).toEqual(['face "2"', 'face 1'])
    expect(await personsOf('ann', 'conversation', 'conv_1')).toEqual(['face "2"', 'face 0', 'face 1'])
    expect(await personsOf('bob', 'item', 'msg_1')).toEqual(['face 3'])
    expect(await personsOf('cat', 'response', 'resp_2')).toBeUndefined()
    const later = { kind: 'response', id: 'resp_3', user: 'ann', upstream: 'u', model: 'm', createdAt: 2 } as const
    await store.recordTextObjects([{ ...later, expiresAt: at }])
    expect(await personsOf('ann', 'response', 'resp_3')).toBeUndefined()
    await Promise.all([store.close(), database.close()])
  })
})
