import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { problemBody } from '../../plugins/shared/problem.ts'
import type {
  AttemptStore,
  LoginUser,
  NewSession,
  SessionStore,
  WebSessionOptions,
} from '../../plugins/web-session/index.ts'
import { webSession } from '../../plugins/web-session/index.ts'
import { ask, openFixture, rejection } from './fixture.ts'

/** A minimal store of a host app: one user, sessions in a map, and no counting of failures. */
const minimalStore = (): SessionStore & AttemptStore => {
  const user: LoginUser = { id: '7', name: 'eve', password: 'plain' }
  const sessions = new Map<string, NewSession>()
  return {
    userByName: async (name) => (name === user.name ? user : undefined),
    async addSession(session, ended = []) {
      for (const hash of ended) sessions.delete(hash)
      sessions.set(session.hash, session)
      return true
    },
    async session(hash) {
      const session = sessions.get(hash)
      return session && { ...session, name: user.name }
    },
    touchSession: async () => {},
    async endSession(hash) {
      sessions.delete(hash)
    },
    takeAttempt: async () => undefined,
    revertAttempt: async () => {},
  }
}

const verify = async (password: string, hash: string | undefined) => password === hash

const hostSession = (more: Partial<WebSessionOptions> = {}) =>
  webSession({
    store: minimalStore(),
    verify,
    secrets: ['s, a secret of the tests'],
    publicUrl: 'http://localhost',
    ...more,
  })

const eve = { name: 'eve', password: 'plain' }

describe('in a bare Elysia app', () => {
  test('it works completely, with the users and the store of the app, and does not affect other routes', async () => {
    const app = new Elysia()
      .use(hostSession({ prefix: '/auth', errors: problemBody('video_proxy_error') }))
      .get('/open', () => 'open')
      .get('/mine', ({ identity }) => `${identity.user} ${identity.name}`, { session: true })
      .get('/broken', () => {
        throw new Error('mine')
      })
      .post('/body', ({ body }) => body)
    const rejected = await ask(app, 'POST', '/auth', {}, { ...eve, password: 'x' })
    expect([rejected.status, rejected.json]).toEqual([
      401,
      { success: false, error: { message: 'wrong name or password', type: 'video_proxy_error' } },
    ])
    const { cookie } = await ask(app, 'POST', '/auth', {}, eve)
    expect((await ask(app, 'GET', '/auth', { cookie })).json.user).toEqual({ id: '7', name: 'eve' })
    expect((await ask(app, 'GET', '/mine', { cookie })).json).toBe('7 eve')
    const anonymous = await ask(app, 'GET', '/mine')
    expect([anonymous.status, anonymous.json]).toEqual([401, rejection('not authenticated', 'video_proxy_error')])
    const out = await ask(app, 'DELETE', '/auth', { cookie, origin: 'http://localhost' })
    expect(out.status).toBe(200)
    expect((await ask(app, 'GET', '/mine', { cookie })).status).toBe(401)
    expect((await ask(app, 'GET', '/api/session')).json).toBe('NOT_FOUND')
    expect((await ask(app, 'GET', '/open')).headers.get('cache-control')).toBeNull()
    expect((await ask(app, 'GET', '/broken')).json).toBe('mine')
    expect((await ask(app, 'POST', '/body', {}, { a: 1 })).json).toEqual({ a: 1 })
  })
})

describe('two instances in one app', () => {
  test('have their own users, routes and secrets', async () => {
    const [one, two] = [
      await openFixture({ cookieName: 'one' }),
      await openFixture({ cookieName: 'two', secrets: ['other, a secret of the tests'] }),
    ]
    await two.addUser('bob', 'right')
    const part = (prefix: string, { options }: typeof one) =>
      new Elysia({ prefix }).use(webSession(options)).get('/me', ({ identity }) => identity.user, { session: true })
    const app = new Elysia().use(part('/one', one)).use(part('/two', two))
    const first = await ask(app, 'POST', '/one/api/session', {}, { name: 'ann', password: 'right' })
    const second = await ask(app, 'POST', '/two/api/session', {}, { name: 'bob', password: 'right' })
    expect((await ask(app, 'POST', '/one/api/session', {}, { name: 'bob', password: 'right' })).status).toBe(401)
    const both = { cookie: `${first.cookie}; ${second.cookie}` }
    expect((await ask(app, 'GET', '/one/api/session', both)).json.user.name).toBe('ann')
    expect((await ask(app, 'GET', '/two/api/session', both)).json.user.name).toBe('bob')
    expect((await ask(app, 'GET', '/one/me', both)).json).toBe(one.ann)
    expect((await ask(app, 'GET', '/two/me', { cookie: first.cookie })).status).toBe(401)
    const renamed = { cookie: first.cookie.replace('one=', 'two=') }
    expect((await ask(app, 'GET', '/two/me', renamed)).status).toBe(401)
  })

  test('each provide the macro for the routes after them', async () => {
    const [one, two] = [
      await openFixture({ cookieName: 'one' }),
      await openFixture({ cookieName: 'two', prefix: '/second' }),
    ]
    const app = new Elysia()
      .use(webSession(one.options))
      .get('/one', ({ identity }) => identity.user, { session: true })
      .use(webSession(two.options))
      .get('/two', ({ identity }) => identity.user, { session: true })
    const cookie = `${(await one.login()).cookie}; ${(await ask(two.app, 'POST', '/second', {}, { name: 'ann', password: 'right' })).cookie}`
    expect((await ask(app, 'GET', '/api/session', { cookie })).json.user.id).toBe(one.ann)
    expect((await ask(app, 'GET', '/second', { cookie })).json.user.id).toBe(two.ann)
    expect((await ask(app, 'GET', '/one', { cookie })).json).toBe(one.ann)
    expect((await ask(app, 'GET', '/two', { cookie })).json).toBe(two.ann)
  })
})

test('nested two plugins deep, it guards its own routes and no others', async () => {
  const inner = new Elysia({ prefix: '/ground' })
    .use(hostSession())
    .get('/me', ({ identity }) => identity, { session: true })
  const first = new Elysia({ name: 'first', prefix: '/first' }).use(inner).get('/sibling', () => 'open')
  const second = new Elysia({ name: 'second', prefix: '/second' }).use(first).get('/sibling', () => 'open')
  const app = new Elysia()
    .get('/before', () => 'open')
    .use(second)
    .get('/after', () => 'open')
    .get('/broken', () => {
      throw new Error('mine')
    })
  const base = '/second/first/ground'
  const { cookie } = await ask(app, 'POST', `${base}/api/session`, {}, eve)
  expect((await ask(app, 'GET', `${base}/me`, { cookie })).json).toMatchObject({ name: 'eve' })
  expect((await ask(app, 'GET', `${base}/me`)).status).toBe(401)
  expect((await ask(app, 'PUT', `${base}/api/session`)).status).toBe(405)
  for (const path of ['/before', '/after', '/second/sibling', '/second/first/sibling']) {
    const { status, json, headers } = await ask(app, 'GET', path)
    expect([path, status, json, headers.get('cache-control')]).toEqual([path, 200, 'open', null])
  }
  expect((await ask(app, 'GET', '/broken')).json).toBe('mine')
})
