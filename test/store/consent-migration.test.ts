import { expect, test } from 'bun:test'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import { openStore } from '../../src/store/index.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { migrations } from '../../src/store/migrations/migrations.ts'
import { consentTables } from '../../src/store/migrations/tables/consents.ts'
import { eachEmptyDatabase } from '../support/database.ts'

eachEmptyDatabase('the migration to a ledger of consents', (tested) => {
  test('has the groups of persons and what has used them, with what is known of their verifications', async () => {
    const database = databaseKinds[tested.kind].open(tested.url, { deadlineMs: 60_000 })
    await database.exclusively(() => migrate(1, migrations.slice(0, migrations.indexOf(consentTables))))
    for (const [id, type, state] of [
      ['verified', 'LivenessFace', 'owned'],
      ['adopted', 'LivenessFace', 'owned'],
      ['cats', 'AIGC', 'owned'],
    ] as const)
      await database.query(sql`
        insert into groups (id, group_id, user_id, type, name, state, created_at)
        values (${`row of ${id}`}, ${id}, 'ann', ${type}, ${id}, ${state}, 20)`)
    await database.query(sql`
      insert into face_verifications (id, user_id, kind, status, group_id, created_at, expires_at, lease_until, asks)
      values ('v', 'ann', 'ark', 'verified', 'verified', 10, 30, 0, 0)`)
    for (const [id, phase, group] of [
      ['sent', 'submitted', 'verified'],
      ['waits', 'waiting', 'verified'],
      ['of cats', 'submitted', 'cats'],
    ] as const) {
      await database.query(sql`
        insert into video_tasks (
          id, user_id, model, service_tier, phase, status, created_at, expires_at, submitted_at, lease_until, attempts,
          bytes, fields, upstream_id, place
        )
        values (${id}, 'bob', 'm', 'default', ${phase}, 'running', 40, 90, 50, 0, 1, 0, '{}', ${`upstream ${id}`}, 1)`)
      await database.query(sql`
        insert into video_asset_uses (task_id, asset_id, user_id, group_id)
        values (${id}, ${`asset of ${group}`}, 'bob', ${group})`)
    }
    const store = openStore(tested.url, { deadlineMs: 60_000 })
    await store.migrate()
    expect(await store.consentOf('verified')).toEqual({
      ...{ group: 'verified', owner: 'ann', verifiedAt: 20 },
      invitation: { verification: 'v', user: 'ann', at: 10 },
    })
    expect(await store.consentOf('adopted')).toEqual({ group: 'adopted', owner: 'ann' })
    expect(await store.consentOf('cats')).toBeUndefined()
    expect(await store.consentUses('verified', { limit: 10 })).toEqual([
      { task: 'sent', user: 'bob', assets: ['asset of verified'], at: 50, status: 'running', isKept: true },
    ])
    expect(await store.countConsentUses('cats', 10)).toBe(0)
    await Promise.all([store.close(), database.close()])
  })
})
