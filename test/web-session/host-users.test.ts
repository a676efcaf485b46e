import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { LoginUser, WebSessionOptions } from '../../plugins/web-session/index.ts'
import { webSession } from '../../plugins/web-session/index.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { ask, quickVerify, sameOrigin } from './fixture.ts'

repeatOnDatabases('users of a host app, whose sessions the store keeps', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })

  /** The plugin with one user, who is not in the store. */
  const openHost = () => {
    const eve: LoginUser = { id: `host|${randomUUID()}`, name: 'Eve of the host', password: '#right' }
    const options: WebSessionOptions = {
      store: { ...store, userByName: async (name) => (name === eve.name ? eve : undefined) },
      secrets: ['secret, a secret of the tests'],
      publicUrl: 'https://sluice.test',
      verify: quickVerify().verify,
    }
    const app = webSession(options)
    const login = async (password = 'right') =>
      ask(app, 'POST', '/api/session', sameOrigin, { name: eve.name, password })
    const whoIs = async (cookie: string) => ask(app, 'GET', '/api/session', { cookie })
    return { app, eve, login, whoIs }
  }

  test('log in and out, and are known by their id and name', async () => {
    const { app, eve, login, whoIs } = openHost()
    expect((await login('wrong')).status).toBe(401)
    const { status, cookie } = await login()
    expect(status).toBe(200)
    expect((await whoIs(cookie)).json).toMatchObject({ success: true, user: { id: eve.id, name: eve.name } })
    expect((await ask(app, 'DELETE', '/api/session', { cookie, ...sameOrigin })).status).toBe(200)
    expect((await whoIs(cookie)).status).toBe(401)
  })

  test('lose all sessions when the host says so, for example after a change of the password', async () => {
    const { eve, login, whoIs } = openHost()
    const cookies = [(await login()).cookie, (await login()).cookie]
    await store.endSessions(eve.id)
    for (const cookie of cookies) expect((await whoIs(cookie)).status).toBe(401)
    expect((await login()).status).toBe(200)
  })

  test('cannot log in while they are disabled', async () => {
    const { eve, login, whoIs } = openHost()
    const { cookie } = await login()
    await store.disableHostUser(eve.id, Date.now())
    expect((await whoIs(cookie)).status).toBe(401)
    expect((await login()).status).toBe(401)
    await store.enableHostUser(eve.id)
    expect((await whoIs(cookie)).status).toBe(401)
    expect((await whoIs((await login()).cookie)).status).toBe(200)
  })
})
