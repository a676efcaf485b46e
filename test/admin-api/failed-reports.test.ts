import { expect, test } from 'bun:test'
import { openStore } from '../../src/store/index.ts'
import { addUser, openAdmin } from './fixture.ts'

test('a report that cannot be read is a 500 that says which, and not why', async () => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const fail = () => Promise.reject(new Error('connect 10.0.0.7:5432'))
  const api = await openAdmin(store, { upstreams: fail, activity: fail, alerts: fail })
  const root = api.with((await addUser(store, 'admin', ['admin'])).token)
  for (const [path, report] of [
    ['/upstreams', 'the upstreams'],
    ['/activity', 'the activity'],
    ['/alerts', 'the alerts'],
  ] as const) {
    const { status, body } = await root('GET', path)
    expect([status, body.error.message]).toEqual([500, `${report} could not be read`])
  }
  await store.close()
})
