import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import {
  type Audit,
  type ConsoleTokenStore,
  consoleTokens,
  createToken,
  hashToken,
} from '../../plugins/api-token/index.ts'
import { problemBody } from '../../plugins/shared/problem.ts'
import { ask, publicUrl, rejection, sameOrigin } from '../web-session/fixture.ts'
import { openTokenFixture, path } from './fixture.ts'

describe('a token created in the console', () => {
  test('is shown once, works at once, and only its hash is stored', async () => {
    const { app, asAnn, ann, store, clock } = await openTokenFixture()
    const made = await ask(app, 'POST', path, asAnn, { label: '  laptop ', expires_at: '2030-01-31T10:00:00+08:00' })
    const { token, ...rest } = made.json.token
    expect(made.status).toBe(200)
    expect(made.headers.get('cache-control')).toBe('no-store')
    expect(token).toMatch(/^sk-[0-9A-Za-z]{43}$/)
    expect(rest).toEqual({
      id: rest.id,
      label: 'laptop',
      start: token.slice(0, 9),
      created_at: new Date(clock.now).toISOString(),
      expires_at: '2030-01-31T02:00:00.000Z',
      ...{
        scopes: ['media', 'text', 'video'],
        models: null,
        last_used_at: null,
        has_limits: false,
        old_secret_until: null,
      },
    })
    expect((await ask(app, 'GET', '/asset', { authorization: `Bearer ${token}` })).json).toBe(ann)
    expect(await store.ownerOf(hashToken(token))).toMatchObject({ user: ann, token: rest.id })
    const listed = await ask(app, 'GET', path, asAnn)
    expect([listed.status, listed.json]).toEqual([200, { success: true, tokens: [rest] }])
    expect(listed.headers.get('cache-control')).toBe('no-store')
  })

  test('needs no label, no expiry and no body', async () => {
    const { app, asAnn } = await openTokenFixture()
    for (const body of [
      undefined,
      '{}',
      '{"label":null,"expires_at":null}',
      '{"label":"","other":1}',
      '{"label":"  "}',
    ]) {
      const { status, json } = await ask(app, 'POST', path, asAnn, body)
      expect([body, status, json.token.label, json.token.expires_at]).toEqual([body, 200, null, null])
    }
  })

  test('stops working when it expires, and is no longer listed', async () => {
    const { app, asAnn, clock } = await openTokenFixture()
    const end = new Date(clock.now + 60_000).toISOString()
    const { token } = (await ask(app, 'POST', path, asAnn, { expires_at: end })).json.token
    const authorization = `Bearer ${token}`
    expect((await ask(app, 'GET', '/asset', { authorization })).status).toBe(200)
    clock.now += 60_000
    expect((await ask(app, 'GET', '/asset', { authorization })).status).toBe(401)
    expect((await ask(app, 'GET', path, asAnn)).json.tokens).toEqual([])
  })

  test('has the scopes and models of the request, and no request gives those of an admin', async () => {
    const { app, asAnn, login, store } = await openTokenFixture()
    const wanted = { scopes: ['read', 'text', 'read'], models: ['seed-*', 'm', 'm'] }
    const { json } = await ask(app, 'POST', path, asAnn, wanted)
    expect(json.token).toMatchObject({ scopes: ['text', 'read'], models: ['seed-*', 'm'] })
    const owner = { scopes: ['text', 'read'], models: ['seed-*', 'm'], role: 'user' } as const
    expect(await store.ownerOf(hashToken(json.token.token))).toMatchObject(owner)
    const nothing = await ask(app, 'POST', path, asAnn, { scopes: null, models: null })
    expect(nothing.json.token).toMatchObject({ scopes: ['media', 'text', 'video'], models: null })
    const { user } = (await store.ownerOf(hashToken(json.token.token))) ?? {}
    expect(await store.changeUser(user ?? '', { role: 'admin' }, { now: 1 })).toBe('changed')
    // A user who becomes an admin logs in again.
    const asAdmin = { ...asAnn, cookie: (await login('ann')).cookie }
    for (const scope of ['admin', 'provision'])
      expect((await ask(app, 'POST', path, asAdmin, { scopes: ['media', scope] })).status).toBe(400)
    expect((await ask(app, 'GET', path, asAdmin)).json.tokens).toHaveLength(2)
  })

  test('of a store without scopes is only made when the request names none', async () => {
    const { store } = await openTokenFixture()
    const { app, asAnn } = await openTokenFixture({ store: { ...store, keepsScopes: false } })
    for (const body of [{ scopes: ['read'] }, { models: ['m'] }]) {
      const { status, json } = await ask(app, 'POST', path, asAnn, body)
      expect([status, json]).toEqual([400, rejection('scopes and models are not supported here')])
    }
  })

  for (const [body, message] of [
    ...[[], ['media', 'root'], 'media', ['Media'], [1], [['media']]].map(
      (scopes) => [{ scopes }, 'scopes must be a list of one or more of media, text, video, read'] as const,
    ),
    ...[[], 'm', ['*m'], ['a*b'], [''], ['a\nb'], [7], ['x'.repeat(257)], Array(101).fill('m')].map(
      (models) => [{ models }, 'models must be a list of 1 to 100 models, with * at the end only'] as const,
    ),
    ['{', 'request body is not valid JSON'],
    ['[]', 'request body must be a JSON object'],
    [{ label: 5 }, 'label must be a string without control characters'],
    [{ label: 'a\nb' }, 'label must be a string without control characters'],
    [{ label: 'a\0b' }, 'label must be a string without control characters'],
    ['{"label":"\\ud800"}', 'label must be a string without control characters'],
    [{ label: '𝄞'.repeat(129) }, 'label must be at most 128 characters'],
    [{ expires_at: 'tomorrow' }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: '' }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: '2030-01-31' }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: '2030-01-31T10:00' }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: '2030-02-30T10:00Z' }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: '2030-13-01T10:00Z' }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: '2030-01-01T25:00Z' }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: 1_900_000_000 }, 'expires_at must be a date and time in ISO 8601 with a time zone'],
    [{ expires_at: '2020-01-31T10:00Z' }, 'expires_at must be in the future'],
  ] as const) {
    test(`is rejected with ${JSON.stringify(body).slice(0, 40)}`, async () => {
      const { app, asAnn } = await openTokenFixture()
      const { status, json } = await ask(app, 'POST', path, asAnn, body)
      expect([status, json]).toEqual([400, rejection(message)])
      expect((await ask(app, 'GET', path, asAnn)).json.tokens).toEqual([])
    })
  }

  test('is rejected with another content type, and with a body over 8 KiB', async () => {
    const { app, asAnn } = await openTokenFixture()
    expect((await ask(app, 'POST', path, { ...asAnn, 'content-type': 'text/plain' }, '{}')).status).toBe(415)
    expect((await ask(app, 'POST', path, asAnn, { label: 'x'.repeat(9_000) })).status).toBe(413)
  })

  test('may have a label of 128 characters', async () => {
    const { app, asAnn } = await openTokenFixture()
    const label = '𝄞'.repeat(128)
    expect((await ask(app, 'POST', path, asAnn, { label })).json.token.label).toBe(label)
  })
})

describe('the maximum number of tokens of a user', () => {
  test('counts working tokens of this user only', async () => {
    const { app, asAnn, asBob, clock } = await openTokenFixture({ maxTokens: 3 })
    const create = (as: typeof asAnn, body: object = {}) => ask(app, 'POST', path, as, body)
    const [one, two] = [await create(asAnn), await create(asAnn, { expires_at: new Date(clock.now + 5).toISOString() })]
    expect([one.status, two.status, (await create(asAnn)).status]).toEqual([200, 200, 200])
    const fourth = await create(asAnn)
    expect([fourth.status, fourth.json]).toEqual([409, rejection('there are 3 tokens already; revoke one first')])
    expect((await create(asBob)).status).toBe(200)
    clock.now += 5
    expect([(await create(asAnn)).status, (await create(asAnn)).status]).toEqual([200, 409])
    await ask(app, 'DELETE', `${path}/${one.json.token.id}`, asAnn)
    expect([(await create(asAnn)).status, (await create(asAnn)).status]).toEqual([200, 409])
  })

  test('is 100 by default', async () => {
    const { app, asAnn, ann, store } = await openTokenFixture()
    for (let nth = 0; nth < 99; nth++) await store.addToken({ user: ann, hash: `${nth}`, start: 'sk-', createdAt: 1 })
    expect((await ask(app, 'POST', path, asAnn)).status).toBe(200)
    expect((await ask(app, 'POST', path, asAnn)).status).toBe(409)
  })

  test('holds for concurrent requests', async () => {
    const fixture = await openTokenFixture()
    // Every call takes a while, as with a remote database.
    const slow: ConsoleTokenStore = {
      addToken: async (token, most) => {
        await Bun.sleep(1)
        return fixture.store.addToken(token, most)
      },
      listTokens: async (user, now) => {
        await Bun.sleep(1)
        return fixture.store.listTokens(user, now)
      },
      revokeToken: fixture.store.revokeToken,
    }
    const { app, asAnn, ann, store } = await openTokenFixture({
      maxTokens: 3,
      store: slow,
      identify: () => ({ user: fixture.ann }),
    })
    expect(ann).not.toBe(fixture.ann)
    expect(await store.listTokens()).toEqual([])
    await Promise.all(Array.from({ length: 20 }, () => ask(app, 'POST', path, asAnn)))
    const kept = (await fixture.store.listTokens(fixture.ann)).filter(({ revokedAt }) => revokedAt === undefined)
    expect(kept).toHaveLength(3)
  })
})

describe('a user who creates and revokes tokens repeatedly', () => {
  test('receives 429 with Retry-After after ten times the maximum', async () => {
    const { app, asAnn } = await openTokenFixture({ maxTokens: 2 })
    const statuses: number[] = []
    let last: Awaited<ReturnType<typeof ask>> | undefined
    for (let nth = 0; nth < 22; nth++) {
      last = await ask(app, 'POST', path, asAnn)
      statuses.push(last.status)
      if (last.status === 200) await ask(app, 'DELETE', `${path}/${last.json.token.id}`, asAnn)
    }
    expect(statuses).toEqual([...Array(20).fill(200), 429, 429])
    expect(last?.json).toEqual(rejection('too many tokens were made within a day; try again later'))
    expect(last?.headers.get('retry-after')).toBe('3600')
  })

  test('leaves one audit record per creation and per first revocation', async () => {
    const actions: string[] = []
    const audit: Audit = { note() {}, record: async ({ action }) => void actions.push(action) }
    const { app, asAnn, clock } = await openTokenFixture({ audit })
    const { id } = (await ask(app, 'POST', path, asAnn)).json.token
    for (let times = 0; times < 5; times++) {
      clock.now += 1
      expect((await ask(app, 'DELETE', `${path}/${id}`, asAnn)).status).toBe(200)
    }
    expect(actions).toEqual(['token.create', 'token.revoke'])
  })
})

describe('tokens of other users', () => {
  test('are not listed', async () => {
    const { app, asAnn, asBob } = await openTokenFixture()
    await ask(app, 'POST', path, asAnn, { label: 'mine' })
    expect((await ask(app, 'GET', path, asBob)).json).toEqual({ success: true, tokens: [] })
  })

  test('a revoked token does not work, and a second revocation succeeds', async () => {
    const { app, asAnn } = await openTokenFixture()
    const { id, token } = (await ask(app, 'POST', path, asAnn)).json.token
    for (let times = 0; times < 2; times++) {
      const { status, json, headers } = await ask(app, 'DELETE', `${path}/${id}`, asAnn)
      expect([status, json, headers.get('cache-control')]).toEqual([200, { success: true }, 'no-store'])
    }
    expect((await ask(app, 'GET', '/asset', { authorization: `Bearer ${token}` })).status).toBe(401)
    expect((await ask(app, 'GET', path, asAnn)).json.tokens).toEqual([])
  })

  test('a foreign, an unknown and a malformed id have the same response, and the foreign token remains', async () => {
    const { app, asAnn, asBob } = await openTokenFixture()
    const { id, token } = (await ask(app, 'POST', path, asBob)).json.token
    const ids = [id, crypto.randomUUID(), 'x', '%00', '%ff', '..%2f..', `${id}%20`, 'a'.repeat(300), "'--"]
    const responses = await Promise.all(
      ids.map(async (each) => {
        const { status, json, headers } = await ask(app, 'DELETE', `${path}/${each}`, asAnn)
        return JSON.stringify([status, json, [...headers].sort()])
      }),
    )
    expect(new Set(responses).size).toBe(1)
    expect(responses[0]).toStartWith(`[404,${JSON.stringify(rejection('token not found'))}`)
    expect((await ask(app, 'GET', '/asset', { authorization: `Bearer ${token}` })).status).toBe(200)
  })
})

describe('authentication of these routes', () => {
  const routes = [
    ['GET', path],
    ['POST', path],
    ['DELETE', `${path}/some-id`],
    ['GET', '/api/session'],
    ['DELETE', '/api/session'],
  ] as const

  for (const [method, route] of routes) {
    test(`${method} ${route} accepts no token, only a session`, async () => {
      const { app, asAnn } = await openTokenFixture()
      const { token } = (await ask(app, 'POST', path, asAnn)).json.token
      const { cookie } = asAnn
      for (const headers of [
        { authorization: `Bearer ${token}` },
        { authorization: `Bearer ${cookie.slice('session='.length)}` },
        { cookie: `session=${token}` },
        { authorization: `Basic ${btoa('ann:right')}` },
        {},
      ] as Record<string, string>[]) {
        for (const origin of [sameOrigin, {}] as Record<string, string>[]) {
          const { status, json } = await ask(app, method, route, { ...headers, ...origin })
          expect([status, json]).toEqual([401, rejection('not authenticated')])
        }
      }
      expect((await ask(app, 'GET', path, asAnn)).json.tokens).toHaveLength(1)
    })
  }

  test('a session does not authenticate routes for tokens', async () => {
    const { app, asAnn } = await openTokenFixture()
    const [, value = ''] = asAnn.cookie.split('session=')
    for (const headers of [asAnn, { authorization: `Bearer ${value}` }, { authorization: `Bearer sk-${value}` }]) {
      const { status, json } = await ask(app, 'GET', '/asset', headers)
      expect([status, json]).toEqual([401, rejection('not authenticated')])
    }
  })

  test('a change must have the origin of the public URL', async () => {
    const { app, asAnn } = await openTokenFixture()
    const { id } = (await ask(app, 'POST', path, asAnn)).json.token
    const { cookie } = asAnn
    for (const headers of [{}, { origin: 'https://evil.test' }, { 'sec-fetch-site': 'same-site' }] as Record<
      string,
      string
    >[]) {
      for (const [method, route] of [
        ['POST', path],
        ['DELETE', `${path}/${id}`],
      ] as const) {
        const { status, json } = await ask(app, method, route, { cookie, ...headers })
        expect([status, json]).toEqual([403, rejection('request comes from a foreign origin')])
      }
    }
    const listed = await ask(app, 'GET', path, { cookie })
    expect(listed.json.tokens).toHaveLength(1)
    expect((await ask(app, 'DELETE', `${path}/${id}`, { cookie, 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  })

  test('other methods and paths are rejected in the same error format', async () => {
    const { app, asAnn } = await openTokenFixture({ errors: problemBody('video_proxy_error') })
    const refused = (message: string) => ({ success: false, error: { message, type: 'video_proxy_error' } })
    for (const [method, route, status, message] of [
      ['PUT', path, 405, 'method not allowed'],
      ['DELETE', path, 405, 'method not allowed'],
      ['GET', `${path}/x`, 405, 'method not allowed'],
      ['GET', `${path}/x/y`, 404, 'not found'],
      ['POST', path, 403, 'request comes from a foreign origin'],
    ] as const) {
      const reply = await ask(app, method, route, { cookie: asAnn.cookie })
      expect([method, route, reply.status, reply.json]).toEqual([method, route, status, refused(message)])
      expect(reply.headers.get('cache-control')).toBe('no-store')
    }
  })
})

describe('several instances', () => {
  test('in one app accept their own tokens only, and do not affect other routes', async () => {
    const [one, two] = [await openTokenFixture(), await openTokenFixture()]
    const part = (prefix: string, fixture: typeof one) =>
      consoleTokens({ prefix, store: fixture.store, identify: () => ({ user: fixture.ann }), publicUrl })
    const deep = new Elysia({ prefix: '/deep' }).use(part('/two', two))
    const app = new Elysia()
      .use(part('/one', one))
      .use(deep)
      .get('/open', () => 'open')
      .get('/broken', () => {
        throw new Error('mine')
      })
    await ask(app, 'POST', '/one', sameOrigin, { label: 'first' })
    await ask(app, 'POST', '/deep/two', sameOrigin, { label: 'second' })
    const labels = async (route: string) =>
      (await ask(app, 'GET', route)).json.tokens.map(({ label }: { label: string }) => label)
    expect([await labels('/one'), await labels('/deep/two')]).toEqual([['first'], ['second']])
    expect((await ask(app, 'PUT', '/deep/two')).status).toBe(405)
    expect((await ask(app, 'GET', '/open')).json).toBe('open')
    expect((await ask(app, 'GET', '/broken')).json).toBe('mine')
  })

  test('respond with 500 without details when the store fails', async () => {
    const down = () => Promise.reject(new Error('secret database'))
    for (const broken of ['listTokens', 'addToken', 'revokeToken'] as const) {
      const { store } = await openTokenFixture()
      const { app, asAnn } = await openTokenFixture({
        store: { ...store, [broken]: down },
        identify: () => ({ user: 'nobody' }),
      })
      const [method, route] = {
        listTokens: ['GET', path] as const,
        addToken: ['POST', path] as const,
        revokeToken: ['DELETE', `${path}/x`] as const,
      }[broken]
      const { status, json } = await ask(app, method, route, asAnn)
      expect([broken, status, json]).toEqual([broken, 500, rejection('the token store is unavailable')])
    }
  })
})

test('an unknown token does not authenticate', async () => {
  const { app } = await openTokenFixture()
  expect((await ask(app, 'GET', '/asset', { authorization: `Bearer ${createToken()}` })).status).toBe(401)
})
