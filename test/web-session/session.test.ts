import { describe, expect, test } from 'bun:test'
import { identifyBySession, type SessionStore } from '../../plugins/web-session/index.ts'
import { ask, openFixture, rejection, sameOrigin } from './fixture.ts'

const minute = 60_000

describe('a session', () => {
  test('identifies the user to these routes and to other plugins', async () => {
    const { login, whoIs, ann, options } = await openFixture()
    const { cookie } = await login()
    const { status, json, headers } = await whoIs(cookie)
    expect([status, json]).toEqual([200, { success: true, user: { id: ann, name: 'ann' } }])
    expect(headers.get('cache-control')).toBe('no-store')
    const request = new Request('http://localhost/', { headers: { cookie } })
    expect(await identifyBySession(options)(request)).toMatchObject({ user: ann, name: 'ann' })
  })

  test('ends after half an hour without a request', async () => {
    const { login, whoIs, clock } = await openFixture()
    const { cookie } = await login()
    clock.now += 30 * minute - 1
    expect((await whoIs(cookie)).status).toBe(200)
    clock.now += 30 * minute
    expect((await whoIs(cookie)).status).toBe(401)
  })

  test('ends after twelve hours, used or not', async () => {
    const { login, whoIs, clock } = await openFixture()
    const { cookie } = await login()
    const end = clock.now + 12 * 60 * minute
    for (; clock.now < end; clock.now += 20 * minute) expect((await whoIs(cookie)).status).toBe(200)
    expect((await whoIs(cookie)).status).toBe(401)
  })

  test('has the configured limits; the factory throws for a limit that is not above 0', async () => {
    const { login, whoIs, clock } = await openFixture({ idleMs: 1_000, absoluteMs: 1_500 })
    const { cookie } = await login()
    clock.now += 999
    expect((await whoIs(cookie)).status).toBe(200)
    clock.now += 501
    expect((await whoIs(cookie)).status).toBe(401)
    for (const idleMs of [0, -1, Number.NaN]) {
      await expect(openFixture({ idleMs })).rejects.toThrow('idleMs must be a number above 0')
      await expect(openFixture({ absoluteMs: idleMs })).rejects.toThrow('absoluteMs must be a number above 0')
    }
  })

  test('stores its idle deadline at most once a minute', async () => {
    const { login, options, clock } = await openFixture()
    const { cookie } = await login()
    const touched: number[] = []
    const store: SessionStore = {
      ...options.store,
      async touchSession(hash, idleUntil) {
        touched.push(clock.now)
        await options.store.touchSession(hash, idleUntil)
      },
    }
    const identify = identifyBySession({ ...options, store })
    const start = clock.now
    for (let second = 0; second <= 300; second++) {
      clock.now = start + second * 1000
      expect(await identify(new Request('http://localhost/', { headers: { cookie } }))).toBeDefined()
    }
    expect(touched.map((at) => (at - start) / 1000)).toEqual([61, 122, 183, 244])
  })

  test('ends for every process with the logout, which deletes the cookie', async () => {
    const { login, whoIs, app, options } = await openFixture()
    const other = identifyBySession({ ...options })
    const { cookie } = await login()
    const request = () => new Request('http://localhost/', { headers: { cookie } })
    expect(await other(request())).toBeDefined()
    const reply = await ask(app, 'DELETE', '/api/session', { cookie, ...sameOrigin })
    expect([reply.status, reply.json]).toEqual([200, { success: true }])
    expect(reply.headers.getSetCookie()).toEqual(['session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure'])
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect((await whoIs(cookie)).status).toBe(401)
    expect(await other(request())).toBeUndefined()
    expect((await ask(app, 'DELETE', '/api/session', { cookie, ...sameOrigin })).status).toBe(401)
  })

  test('ends at once when its user is disabled', async () => {
    const { login, whoIs, store } = await openFixture()
    const { cookie } = await login()
    await store.disableUser('ann', 5)
    expect((await whoIs(cookie)).status).toBe(401)
  })

  test('ends at once when its user gets a new password; later sessions do not', async () => {
    const { login, whoIs, store } = await openFixture({ verify: async () => true })
    const before = await login()
    await store.setPassword('ann', '#right again')
    expect((await whoIs(before.cookie)).status).toBe(401)
    const after = await login()
    expect((await whoIs(after.cookie)).status).toBe(200)
  })

  test('that cannot be read gets 500 without details', async () => {
    const { options, login, clock } = await openFixture()
    const { cookie } = await login()
    clock.now += 5 * minute
    for (const broken of ['session', 'touchSession', 'endSession'] as const) {
      const down = () => Promise.reject(new Error('secret database'))
      const fixture = await openFixture({ store: { ...options.store, [broken]: down }, clock: options.clock })
      const reply = await ask(fixture.app, 'DELETE', '/api/session', { cookie, ...sameOrigin })
      expect([broken, reply.status, reply.json]).toEqual([broken, 500, rejection('session could not be checked')])
    }
  })
})

describe('without a session', () => {
  test('a request gets 401, whatever other credentials it has', async () => {
    const { app } = await openFixture()
    const credentials: readonly Record<string, string>[] = [
      {},
      { cookie: 'session=1' },
      { authorization: `Bearer sk-${'a'.repeat(43)}` },
    ]
    for (const headers of credentials) {
      for (const method of ['GET', 'DELETE']) {
        const reply = await ask(app, method, '/api/session', { ...headers, ...sameOrigin })
        expect([reply.status, reply.json]).toEqual([401, rejection('not authenticated')])
        expect(reply.headers.get('cache-control')).toBe('no-store')
      }
    }
  })

  test('other methods and other paths are rejected in the same shape', async () => {
    const { app } = await openFixture()
    for (const method of ['PUT', 'PATCH', 'OPTIONS']) {
      const { status, json, headers } = await ask(app, method, '/api/session')
      expect([status, json]).toEqual([405, rejection('method not allowed')])
      expect(headers.get('allow')?.split(', ').sort()).toEqual(['DELETE', 'GET', 'POST'])
    }
    expect([
      (await ask(app, 'GET', '/api/session/x')).status,
      (await ask(app, 'POST', '/api/session/x')).status,
    ]).toEqual([404, 404])
  })
})
