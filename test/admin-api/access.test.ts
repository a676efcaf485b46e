import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Identity } from '../../plugins/shared/identity/identify.ts'
import type { Store } from '../../src/store/index.ts'
import { until } from '../routes/fixture.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { adminRoutes } from '../support/route-table.ts'
import { type Answer, addUser, type Call, openAdmin } from './fixture.ts'

/** Every route, and paths and methods that are none. */
const requests: readonly (readonly [string, string])[] = [
  ...adminRoutes.map(([method, path]) => [method, path.replace(/:\w+/g, 'x')] as const),
  ['GET', ''],
  ['GET', '/'],
  ['GET', '/nothing'],
  ['GET', '/users/x/nothing'],
  ['DELETE', '/users'],
  ['PUT', '/users/x'],
  ['POST', '/usage'],
  ['OPTIONS', '/users'],
  ['GET', '/users?limit=0'],
  ['GET', '/users?cursor=forged'],
]

const shape = ({ status, headers, text }: Answer) => [
  status,
  text,
  ...[...headers].filter(([name]) => name !== 'date').map(([name, value]) => `${name}: ${value}`),
]

repeatOnDatabases('the callers of the admin API', (database) => {
  let store: Store
  let api: Awaited<ReturnType<typeof openAdmin>>
  beforeAll(async () => {
    store = await database.open()
    api = await openAdmin(store)
  })

  const ask = (call: Call, method: string, path: string) =>
    call(method, path, method === 'GET' || method === 'OPTIONS' ? {} : { body: '{"malformed' })

  test('who are not known get 401, the same for every path, method and body', async () => {
    const answers = new Set<string>()
    for (const [method, path] of requests) answers.add(JSON.stringify(shape(await ask(api.send, method, path))))
    expect([...answers].map((answer) => JSON.parse(answer)[0])).toEqual([401])
  })

  test('who are no admins get 403, the same for every path, method and body', async () => {
    const callers: Call[] = [
      api.with((await addUser(store, 'user', ['media', 'text', 'video', 'read'])).token),
      // The scope works only while the user is an admin.
      api.with((await addUser(store, 'user', ['admin', 'provision'])).token),
      api.with((await addUser(store, 'admin', ['media', 'text', 'video', 'read'])).token),
      api.as({ user: 'a session of a user', role: 'user' }),
      // A host app without roles and scopes.
      api.as({ user: 'a user of a host app' }),
      api.as({ user: 'a user of a host app', token: 'with a token' }),
      // An admin's token that does not say what it may do.
      api.as({ user: 'an admin', token: 'without scopes', role: 'admin' }),
      api.as({ user: 'an admin', token: 'with no scope', role: 'admin', scopes: [] }),
    ]
    const answers = new Set<string>()
    for (const call of callers)
      for (const [method, path] of requests) answers.add(JSON.stringify(shape(await ask(call, method, path))))
    expect([...answers].map((answer) => JSON.parse(answer).slice(0, 2))).toEqual([
      [403, '{"success":false,"error":{"message":"not allowed","type":"request_error"}}'],
    ])
  })

  test('with the scope provision get 403 for all but users, teams and tokens', async () => {
    const provision = api.with((await addUser(store, 'admin', ['provision'])).token)
    const areas = new Map(adminRoutes.map(([method, path, area]) => [`${method} ${path.replace(/:\w+/g, 'x')}`, area]))
    for (const [method, path] of requests) {
      const { status, text } = await ask(provision, method, path)
      const isOpen = areas.get(`${method} ${path.replace(/\?.*/, '')}`) === 'people'
      expect([method, path, status === 403 && text.includes('not allowed')]).toEqual([method, path, !isOpen])
    }
  })

  test('with the scope provision do not change the team of an admin', async () => {
    const root = api.with((await addUser(store, 'admin', ['admin'])).token)
    const admin = await addUser(store, 'admin', ['provision'])
    const provision = api.with(admin.token)
    const { body } = await root('POST', '/teams', { body: { name: randomUUID(), limits: [] } })
    const change = () => provision('PATCH', `/teams/${body.team.id}`, { body: { limits: [] } })
    expect((await change()).status).toBe(200)
    await root('PATCH', `/users/${admin.id}`, { body: { team: body.team.id } })
    expect((await change()).status).toBe(403)
    expect((await root('PATCH', `/teams/${body.team.id}`, { body: { limits: null } })).status).toBe(200)
  })

  test('lose their access when they are demoted or disabled', async () => {
    const root = api.with((await addUser(store, 'admin', ['admin'])).token)
    for (const change of [{ role: 'user' }, { disabled: true }]) {
      const other = await addUser(store, 'admin', ['admin'])
      const call = api.with(other.token)
      expect((await call('GET', '/teams')).status).toBe(200)
      expect((await root('PATCH', `/users/${other.id}`, { body: change })).status).toBe(200)
      // The token is cached; the store's revision is read at most twice a second.
      const expected = change.disabled ? 401 : 403
      await until(async () => (await call('GET', '/teams')).status === expected)
    }
  })

  describe('with a session', () => {
    const session: Identity = { user: randomUUID(), role: 'admin' }

    test('change things only from a page of the public address', async () => {
      const call = api.as(session)
      const body = () => ({ name: randomUUID() })
      const from = (headers: Record<string, string>) => call('POST', '/teams', { body: body(), headers })
      expect((await from({})).status).toBe(403)
      expect((await from({ origin: 'https://evil.example' })).status).toBe(403)
      expect((await from({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
      expect((await from({ origin: 'https://sluice.example' })).status).toBe(200)
      expect((await from({ 'sec-fetch-site': 'same-origin' })).status).toBe(200)
      expect((await call('GET', '/teams')).status).toBe(200)
    })
  })
})
