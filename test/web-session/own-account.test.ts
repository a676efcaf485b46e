import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import type { AuditEvent } from '../../plugins/shared/audit.ts'
import { type OwnAccountOptions, ownAccount, webSession } from '../../plugins/web-session/index.ts'
import { createOwnAccountStore } from '../../src/store/users/own-accounts.ts'
import { ask, openFixture, rejection, sameOrigin } from './fixture.ts'

const path = '/api/account'
const good = 'correct horse battery'

/** An app with logins and own accounts. Ann has logged in twice, bob once. */
const openAccounts = async (options: Partial<OwnAccountOptions> = {}) => {
  const fixture = await openFixture()
  await fixture.addUser('bob', 'right')
  const events: AuditEvent[] = []
  const audit = {
    note: (event: AuditEvent) => void events.push(event),
    record: async (event: AuditEvent) => void events.push(event),
  }
  const store = { ...fixture.store, ...createOwnAccountStore(fixture.database), ...options.store }
  const hash = async (password: string) => `#${password}`
  const app = new Elysia()
    .use(webSession(fixture.options))
    .use(ownAccount({ ...fixture.options, hash, audit, ...options, store }))
  const as = async (name: string, agent = 'Firefox') => ({
    cookie: (await fixture.login(name, 'right', { 'user-agent': agent })).cookie,
    ...sameOrigin,
  })
  const change = (headers: Record<string, string>, password = good, current_password = 'right') =>
    ask(app, 'PATCH', path, headers, { current_password, password })
  return {
    ...fixture,
    store,
    app,
    events,
    ann: fixture.ann,
    asAnn: await as('ann'),
    elsewhere: await as('ann', 'Chrome'),
    asBob: await as('bob'),
    change,
  }
}

describe('the own account', () => {
  test('has id, name, role, team and login', async () => {
    const { app, asAnn, ann, login, store } = await openAccounts()
    const { status, json, headers } = await ask(app, 'GET', path, asAnn)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(json).toEqual({
      success: true,
      account: { id: ann, name: 'ann', role: 'user', team: null, login: 'password' },
    })
    await store.changeUser(ann, { role: 'admin' }, { now: 1 })
    // A user who becomes an admin logs in again.
    const asAdmin = { ...asAnn, cookie: (await login('ann')).cookie }
    expect((await ask(app, 'GET', path, asAdmin)).json.account.role).toBe('admin')
  })

  test('needs a session, and changes need the own origin', async () => {
    const { app, asAnn, change } = await openAccounts()
    const foreign = { ...asAnn, origin: 'https://evil.test' }
    for (const [method, route] of [
      ['GET', path],
      ['PATCH', path],
      ['GET', `${path}/sessions`],
      ['DELETE', `${path}/sessions`],
      ['DELETE', `${path}/sessions/x`],
    ] as const) {
      expect([route, (await ask(app, method, route, sameOrigin)).status]).toEqual([route, 401])
      if (method !== 'GET') expect([route, (await ask(app, method, route, foreign)).status]).toEqual([route, 403])
      if (method !== 'GET') expect((await ask(app, method, route, { cookie: asAnn.cookie })).status).toBe(403)
    }
    expect((await change(foreign)).status).toBe(403)
  })

  test('of a user whom the store does not know is 404', async () => {
    const { app, asAnn, change } = await openAccounts({ store: { account: async () => undefined } as never })
    expect((await ask(app, 'GET', path, asAnn)).status).toBe(404)
    expect((await change(asAnn)).status).toBe(404)
  })
})

describe('a change of the own password', () => {
  test('ends all other sessions, keeps this one, and is in the audit trail', async () => {
    const { app, asAnn, elsewhere, asBob, change, login, events, ann } = await openAccounts()
    expect((await change(asAnn)).status).toBe(200)
    expect((await ask(app, 'GET', path, asAnn)).status).toBe(200)
    expect((await ask(app, 'GET', path, elsewhere)).status).toBe(401)
    expect((await ask(app, 'GET', path, asBob)).status).toBe(200)
    expect((await login('ann', 'right')).status).toBe(401)
    expect((await login('ann', good)).status).toBe(200)
    expect(events).toEqual([{ action: 'user.password', target: { kind: 'user', id: ann } }])
  })

  test('needs the current one, and wrong ones count as failed logins', async () => {
    const { asAnn, change, login, events, clock } = await openAccounts({ addressOf: undefined as never })
    for (let count = 0; count < 5; count++) {
      const { status, json } = await change(asAnn, good, 'wrong')
      expect([status, json]).toEqual([403, rejection('current_password is wrong')])
    }
    expect(events.every(({ action }) => action === 'session.fail')).toBe(true)
    const blocked = await change(asAnn)
    expect([blocked.status, blocked.headers.get('retry-after')]).toEqual([429, '5'])
    expect((await login('ann', 'right')).status).toBe(429)
    clock.now += 5_000
    expect((await change(asAnn)).status).toBe(200)
  })

  for (const [password, why] of [
    ['short1A', 'a password has at least 12 characters, or 8 of three kinds (lower case, upper case, digits, others)'],
    [
      'onlyletters',
      'a password has at least 12 characters, or 8 of three kinds (lower case, upper case, digits, others)',
    ],
    ['x'.repeat(1_025), 'a password has at most 1024 bytes'],
    ['密'.repeat(400), 'a password has at most 1024 bytes'],
  ] as const) {
    test(`to ${password.slice(0, 12)} is 400`, async () => {
      const { asAnn, change, login } = await openAccounts()
      const { status, json } = await change(asAnn, password)
      expect([status, json]).toEqual([400, rejection(why)])
      expect((await login('ann', 'right')).status).toBe(200)
    })
  }

  test('to the own name in any case is 400', async () => {
    const { app, addUser, login } = await openAccounts()
    await addUser('Annabel-Lee-1', 'right')
    const { cookie } = await login('annabel-lee-1', 'right')
    const body = { current_password: 'right', password: 'ANNABEL-LEE-1' }
    const { status, json } = await ask(app, 'PATCH', path, { cookie, ...sameOrigin }, body)
    expect([status, json]).toEqual([400, rejection('a password must not be the name of its user')])
  })

  test('is rejected with a wrong body', async () => {
    const { app, asAnn } = await openAccounts()
    for (const body of ['{}', '[]', '{"password":"x"}', { current_password: 'right', password: 7 }])
      expect((await ask(app, 'PATCH', path, asAnn, body)).status).toBe(400)
    expect((await ask(app, 'PATCH', path, { ...asAnn, 'content-type': 'text/plain' }, '{}')).status).toBe(415)
    expect((await ask(app, 'PATCH', path, asAnn, { password: 'x'.repeat(9_000) })).status).toBe(413)
    const long = { current_password: 'x'.repeat(2_000), password: good }
    expect((await ask(app, 'PATCH', path, asAnn, long)).status).toBe(403)
  })

  test('is 403 where users do not log in with a password', async () => {
    const { asAnn, change } = await openAccounts({ passwordLogin: false })
    const { status, json } = await change(asAnn)
    expect([status, json]).toEqual([403, rejection('users do not log in with a password here')])
  })

  test('of an account without one is 409, and so is one that another request overtook', async () => {
    const { app, asAnn, change, ann } = await openAccounts()
    const account = async () => ({ id: ann, name: 'ann', role: 'user', login: 'oidc' }) as const
    const without = await openAccounts({ store: { account } as never })
    expect((await without.change(without.asAnn)).json).toEqual(rejection('this account has no password'))
    const both = await Promise.all([change(asAnn, `${good} one`), change(asAnn, `${good} two`)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    expect((await ask(app, 'GET', path, asAnn)).status).toBe(200)
  })
})

describe('the own sessions', () => {
  test('are listed, newest first, with the browser and which one this is', async () => {
    const { app, asAnn, elsewhere, clock } = await openAccounts()
    const { json } = await ask(app, 'GET', `${path}/sessions`, elsewhere)
    const times = {
      created_at: new Date(clock.now).toISOString(),
      last_used_at: new Date(clock.now).toISOString(),
      expires_at: new Date(clock.now + 1_800_000).toISOString(),
    }
    const ids = json.sessions.map(({ id }: { id: string }) => id)
    expect(json.sessions).toHaveLength(2)
    for (const [user_agent, current] of [
      ['Chrome', true],
      ['Firefox', false],
    ] as const)
      expect(json.sessions).toContainEqual({ id: expect.any(String), ...times, user_agent, current })
    expect(new Set(ids).size).toBe(2)
    expect(JSON.stringify(json)).not.toContain(asAnn.cookie.split('=')[1] as string)
    clock.now += 300_000
    await ask(app, 'GET', path, asAnn)
    const later = (await ask(app, 'GET', `${path}/sessions`, elsewhere)).json.sessions
    const used = later.find((each: { user_agent: string }) => each.user_agent === 'Firefox')
    expect(used.last_used_at).toBe(new Date(clock.now).toISOString())
  })

  test('end one by one, and a foreign, unknown and malformed id have the same response', async () => {
    const { app, asAnn, elsewhere, asBob, events } = await openAccounts()
    const { json } = await ask(app, 'GET', `${path}/sessions`, asAnn)
    const other = json.sessions.find(({ current }: { current: boolean }) => !current).id
    const bobs = (await ask(app, 'GET', `${path}/sessions`, asBob)).json.sessions[0].id
    for (const id of [bobs, 'unknown', 'x'.repeat(3_000), '%00'])
      expect(await ask(app, 'DELETE', `${path}/sessions/${id}`, asAnn)).toMatchObject({
        status: 404,
        json: rejection('session not found'),
      })
    expect((await ask(app, 'GET', path, asBob)).status).toBe(200)
    expect((await ask(app, 'DELETE', `${path}/sessions/${other}`, asAnn)).json).toEqual({ success: true })
    expect((await ask(app, 'GET', path, elsewhere)).status).toBe(401)
    expect((await ask(app, 'GET', path, asAnn)).status).toBe(200)
    expect(events.at(-1)).toEqual({ action: 'session.logout', target: { kind: 'session', id: other } })
  })

  test('end all but this one', async () => {
    const { app, asAnn, elsewhere, asBob } = await openAccounts()
    expect((await ask(app, 'DELETE', `${path}/sessions`, asAnn)).json).toEqual({ success: true })
    expect((await ask(app, 'GET', path, asAnn)).status).toBe(200)
    expect((await ask(app, 'GET', path, elsewhere)).status).toBe(401)
    expect((await ask(app, 'GET', path, asBob)).status).toBe(200)
  })
})
