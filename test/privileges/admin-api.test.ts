import { expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { openStore } from '../../src/store/index.ts'
import { addUser, openAdmin } from '../admin-api/fixture.ts'
import { databaseNames, migratedDatabase } from '../support/database.ts'
import { repeats } from '../support/repetitions.ts'
import { pick, testAdminApi } from './admin-sequences.ts'

// admin-sequences.all.test.ts has further sequences.
testAdminApi({ sqlite: repeats(2, 4), postgres: 1 })

test('the last enabled admin stays, whatever admins do at once', async () => {
  for (const kind of databaseNames) {
    const made = await migratedDatabase(kind)
    const store = openStore(made.url, { deadlineMs: 60_000 })
    await store.migrate()
    const api = await openAdmin(store)
    const admins = await Promise.all(Array.from({ length: 4 }, () => addUser(store, 'admin', ['admin'], randomUUID())))
    const attempts = admins.flatMap((admin, nth) => {
      const other = pick(admins, nth + 1)
      return [{ role: 'user' }, { disabled: true }].flatMap((body) => [
        api.with(admin.token)('PATCH', `/users/${admin.id}`, { body }),
        api.with(admin.token)('PATCH', `/users/${other.id}`, { body }),
      ])
    })
    await Promise.all(attempts)
    const { items } = await store.listAdminUsers({ role: 'admin', state: 'enabled' }, { limit: 10 })
    expect(items).toHaveLength(1)
    await store.close()
    await made.remove()
  }
}, 300_000)
